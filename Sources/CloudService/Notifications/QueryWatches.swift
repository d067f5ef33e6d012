import CloudStore
import CloudWire
import System

/// A record that was saved or deleted.
struct ChangedRecord {
    let trigger: WireSubscription.Trigger
    /// The saved record, or the loaded part of a deleted one.
    let row: StoredRecord

    var watch: WatchKey { WatchKey(database: row.key.zone.database, recordType: row.recordType) }
}

/// The query subscriptions to record types. The cache is kept in memory, and read again when the
/// subscriptions or the schema change.
final class QueryWatches: Sendable {
    /// Maximum cascade-deleted records with old fields in memory at a time.
    private static let oldRecordsMax = 64

    private let schemas: Schemas
    private let limits: ServiceLimits
    private let clock: any TimeSource
    private let random: any RandomSource
    private let cache = WatchCache(subscriptionsMax: 50_000)

    init(schemas: Schemas, limits: ServiceLimits, clock: any TimeSource, random: any RandomSource) {
        (self.schemas, self.limits, self.clock, self.random) = (schemas, limits, clock, random)
    }

    /// Finds the query subscriptions that `changes` fire and adds a row for each changed record that fired
    /// some, in the transaction of the change, so a crash before the notification loses nothing. A
    /// subscription that fires only once is deleted in it.
    ///
    /// A save fires the subscriptions whose query matches the new record; a deletion those whose query
    /// matched the old one.
    func fire(
        by changes: inout StoreChanges, loaded: StoreLoaded, maker: DeviceKey?,
        in writer: any CloudStoreWriter
    ) throws {
        let changed = Self.changedRecords(of: changes, loaded: loaded)
        let indexes = try self.indexes(of: Set(changed.map(\.watch)).sorted(), writer)
        guard !indexes.isEmpty else { return }
        var firing = QueryFiring(
            indexes: indexes, maker: maker, nowMilliseconds: clock.nowMilliseconds(), limits: limits)
        var readers = SubscriberAccess(schema: try schemas.schema(in: writer), reader: writer)
        var rest = changed.filter { indexes[$0.watch] != nil }[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.oldRecordsMax)
            rest = rest.dropFirst(part.count)
            let old = try oldRecords(
                of: part.filter { firing.needsOldFields(of: $0) }, loaded: loaded, writer)
            for record in part { try firing.add(record, old: old[record.row.key] ?? record.row, &readers) }
        }
        guard !firing.isEmpty else { return }
        if try writer.notificationReader.firedChangesCount() >= Int64(limits.firedChangesMax) {
            throw ServiceError.tryAgainLater(
                "too many notifications are pending; try again later",
                retryAfterSeconds: ServiceFailure.retryAfterSeconds)
        }
        firing.finish(
            &changes, watches: try load(of: indexes.keys.sorted(), writer), random: random)
    }

    /// Returns the changes to records in `changes`, in order: saves and tombstones, then deletions without
    /// tombstones.
    private static func changedRecords(of changes: StoreChanges, loaded: StoreLoaded) -> [ChangedRecord] {
        let saved = changes.records.compactMap { row -> ChangedRecord? in
            let old = loaded.records[row.key].flatMap { $0.isDeleted ? nil : $0 }
            if row.isDeleted { return old.map { ChangedRecord(trigger: .delete, row: $0) } }
            return ChangedRecord(trigger: old == nil ? .create : .update, row: row)
        }
        let removed = changes.removedRecords.compactMap { key in
            loaded.records[key].map { ChangedRecord(trigger: .delete, row: $0) }
        }
        return saved + removed
    }

    /// Returns the subscriptions to these types, without types that have none.
    func indexes(of keys: [WatchKey], _ reader: any CloudStoreReader) throws -> [WatchKey: WatchIndex] {
        let watches = try load(of: keys, reader).filter { $0.value.count > 0 }
        guard !watches.isEmpty else { return [:] }
        let schema = try schemas.schema(in: reader)
        let version = try reader.schemaVersion() ?? 0
        return try watches.mapValues { row in
            try cache.index(of: row, schemaVersion: version) {
                var wanted = StoreLoad()
                wanted.notifications.watchersOf = [row.key]
                let rows = try reader.load(wanted).notifications.watchers[row.key] ?? []
                return WatchIndex(rows, schema: schema, limits: limits)
            }
        }
    }

    private func load(of keys: [WatchKey], _ reader: any CloudStoreReader) throws -> [WatchKey: WatchRow] {
        guard !keys.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.notifications.watches = keys
        return try reader.load(wanted).notifications.watches
    }

    /// Cascade-deleted records were loaded without their fields.
    private func oldRecords(
        of changed: some Sequence<ChangedRecord>, loaded: StoreLoaded, _ reader: any CloudStoreReader
    ) throws -> [RecordKey: StoredRecord] {
        let keys = changed.filter { $0.row.fields.isEmpty }.map(\.row.key)
        guard !keys.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.records = keys
        return try reader.load(wanted).records
    }
}
