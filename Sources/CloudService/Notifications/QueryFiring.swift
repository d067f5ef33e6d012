import CloudStore
import CloudWire
import Seams

extension CloudService {
    /// Records whose old fields are in memory at a time, when they go with others.
    private static let oldRecordsMax = 64

    /// Finds the query subscriptions that `changes` fire and leaves a row for each changed record that has some, in the
    /// transaction of the change: a crash before they are told loses nothing. One that fires only once goes in it.
    ///
    /// A save fires the subscriptions that find the record as it is now; a deletion those that found it as it was.
    func fireQuerySubscriptions(
        by changes: inout StoreChanges, loaded: StoreLoaded, maker: DeviceKey?,
        in writer: any CloudStoreWriter
    ) throws {
        let events = Self.events(of: changes, loaded: loaded)
        let indexes = try watchIndexes(of: Set(events.map(\.watch)).sorted(), writer)
        guard !indexes.isEmpty else { return }
        var firing = QueryFiring(
            indexes: indexes, maker: maker, nowMilliseconds: clock.nowMilliseconds(), limits: limits)
        var readers = SubscriberAccess(schema: try schemas.schema(in: writer), reader: writer)
        var rest = events.filter { indexes[$0.watch] != nil }[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.oldRecordsMax)
            rest = rest.dropFirst(part.count)
            let old = try oldRecords(
                of: part.filter { firing.needsOldFields(of: $0) }, loaded: loaded, writer)
            for event in part { try firing.add(event, old: old[event.row.key] ?? event.row, &readers) }
        }
        guard !firing.isEmpty else { return }
        if try writer.notificationReader.firedChangesCount() >= Int64(limits.firedChangesMax) {
            throw ServiceError.tryAgainLater(
                "too many changes wait to be told to those who subscribed",
                retryAfterSeconds: ServiceFailure.retryAfterSeconds)
        }
        firing.finish(
            &changes, watches: try loadWatches(of: indexes.keys.sorted(), writer), random: random)
    }

    /// A record that was saved, or deleted.
    struct ChangedRecord {
        let event: RecordEvent
        /// As it is now; of a deleted one, as it was, as far as it was loaded.
        let row: RecordRow

        var watch: WatchKey { WatchKey(database: row.key.zone.database, recordType: row.recordType) }
    }

    /// What `changes` do to records, in their order: saves and tombstones, then what goes without a trace.
    private static func events(of changes: StoreChanges, loaded: StoreLoaded) -> [ChangedRecord] {
        let saved = changes.records.compactMap { row -> ChangedRecord? in
            let old = loaded.records[row.key].flatMap { $0.isDeleted ? nil : $0 }
            if row.isDeleted { return old.map { ChangedRecord(event: .deleted, row: $0) } }
            return ChangedRecord(event: old == nil ? .created : .updated, row: row)
        }
        let removed = changes.removedRecords.compactMap { key in
            loaded.records[key].map { ChangedRecord(event: .deleted, row: $0) }
        }
        return saved + removed
    }

    /// The subscriptions that watch these types, without the types that nobody watches.
    func watchIndexes(of keys: [WatchKey], _ reader: any CloudStoreReader) throws -> [WatchKey: WatchIndex] {
        let watches = try loadWatches(of: keys, reader).filter { $0.value.count > 0 }
        guard !watches.isEmpty else { return [:] }
        let schema = try schemas.schema(in: reader)
        let version = try reader.schemaVersion() ?? 0
        return try watches.mapValues { row in
            try watchCache.index(of: row, schemaVersion: version) {
                var wanted = StoreLoad()
                wanted.notifications.watchersOf = [row.key]
                let rows = try reader.load(wanted).notifications.watchers[row.key] ?? []
                return WatchIndex(rows, schema: schema, limits: limits)
            }
        }
    }

    func loadWatches(of keys: [WatchKey], _ reader: any CloudStoreReader) throws -> [WatchKey: WatchRow] {
        guard !keys.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.notifications.watches = keys
        return try reader.load(wanted).notifications.watches
    }

    /// Records that go along with others were loaded without their fields.
    private func oldRecords(
        of changed: some Sequence<ChangedRecord>, loaded: StoreLoaded, _ reader: any CloudStoreReader
    ) throws -> [RecordKey: RecordRow] {
        let keys = changed.filter { $0.row.fields.isEmpty }.map(\.row.key)
        guard !keys.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.records = keys
        return try reader.load(wanted).records
    }
}

/// Collects what a write's changes fire.
struct QueryFiring {
    let indexes: [WatchKey: WatchIndex]
    let maker: DeviceKey?
    let nowMilliseconds: Int64
    let limits: ServiceLimits
    /// Bytes of fields that this write may still keep for subscribers.
    private var fieldsBytesLeft: Int
    private var fired: [FiredChangeRow] = []
    /// Subscriptions that fired their only time.
    private var spent: [QuerySubscription] = []
    private var spentKeys = Set<SubscriptionKey>()

    init(indexes: [WatchKey: WatchIndex], maker: DeviceKey?, nowMilliseconds: Int64, limits: ServiceLimits) {
        self.indexes = indexes
        self.maker = maker
        self.nowMilliseconds = nowMilliseconds
        self.limits = limits
        fieldsBytesLeft = limits.firedFieldsBytesMax
    }

    var isEmpty: Bool { fired.isEmpty }

    func needsOldFields(of changed: CloudService.ChangedRecord) -> Bool {
        changed.event == .deleted && indexes[changed.watch]?.watchesDeletions == true
    }

    /// Adds a changed record. `old` is the row with its fields.
    mutating func add(
        _ changed: CloudService.ChangedRecord, old: RecordRow, _ readers: inout SubscriberAccess
    ) throws {
        guard let index = indexes[changed.watch], changed.event != .deleted || index.watchesDeletions else {
            return
        }
        let row = changed.event == .deleted ? old : changed.row
        // One that can't be read can be deleted all the same.
        let fields = (try? FieldsBinary.decode(row.fields)) ?? [:]
        var watchers = FiredWatchers()
        var told = ToldFields(fields, limits)
        for subscription in index.fired(by: changed.event, row, fields: fields)
        where try !spentKeys.contains(subscription.row.key) && readers.mayRead(row, subscription.row.key.user)
        {
            told.add(subscription.fieldNames, of: subscription.row.key.user)
            guard subscription.firesOnce else {
                watchers.numbers.append(subscription.row.number)
                continue
            }
            let key = subscription.row.key
            spent.append(subscription)
            spentKeys.insert(key)
            watchers.once.append(
                FiredWatchers.Once(
                    user: key.user, subscriptionID: key.subscriptionID, content: subscription.row.content))
        }
        guard watchers.count > 0 else { return }
        var kept = FieldsBinary.encode(told.fields)
        if kept.count > fieldsBytesLeft { kept = FieldsBinary.encode([:]) }
        fieldsBytesLeft -= min(kept.count, fieldsBytesLeft)
        fired.append(
            FiredChangeRow(
                record: row.key, recordType: row.recordType, reason: changed.event.rawValue, maker: maker,
                atMilliseconds: nowMilliseconds, fields: kept,
                watchers: watchers.bytes))
    }

    /// Adds what is to be written; `watches` are the rows as they stand.
    func finish(
        _ changes: inout StoreChanges, watches: [WatchKey: WatchRow], random: any RandomSource
    ) {
        changes.notifications.firedChanges += fired
        changes.removedSubscriptions += spent.map(\.row.key)
        for (key, count) in Dictionary(grouping: spent, by: \.watch).mapValues(\.count).sorted(by: {
            $0.key < $1.key
        }) {
            guard var row = watches[key] else { continue }
            row.count -= Int64(count)
            row.version = random.next()
            changes.notifications.watches.append(row)
        }
    }
}

/// What is kept of a changed record for those who are told of it: so many bytes for each user, however many
/// subscriptions they have.
private struct ToldFields {
    private(set) var fields: [String: Field] = [:]
    private let all: [String: Field]
    private let limits: ServiceLimits
    private var bytesLeft: [String: Int] = [:]

    init(_ all: [String: Field], _ limits: ServiceLimits) {
        self.all = all
        self.limits = limits
    }

    mutating func add(_ names: Set<String>, of user: String) {
        var left = bytesLeft[user] ?? limits.notificationValuesBytesMax
        for name in names.sorted() where fields[name] == nil {
            guard let field = all[name]?.told(bytesMax: limits.notificationFieldBytesMax) else { continue }
            let bytes = FieldsBinary.encode([name: field]).count
            guard bytes <= left else { continue }
            left -= bytes
            fields[name] = field
        }
        bytesLeft[user] = left
    }
}

extension QuerySubscription {
    /// What it watches.
    var watch: WatchKey { WatchKey(database: row.key.database, recordType: row.recordType ?? "") }
}
