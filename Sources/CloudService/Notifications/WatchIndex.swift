import CloudStore
import CloudWire
import System

/// Index of the query subscriptions on a type by an equality condition: a record is compared only with the
/// subscriptions on its values and with those without such a condition.
struct WatchIndex: Sendable {
    /// Ordered by number.
    private let subscriptions: [QuerySubscription]
    private let placeOfNumber: [Int64: Int]
    private var byValue: [EqualityKey: [Int]] = [:]
    /// Subscriptions with an equality condition, by field: for records with a value that can't be looked up.
    private var byField: [String: [Int]] = [:]
    private var others: [Int] = []

    init(_ rows: [SubscriptionRow], schema: Schema, limits: ServiceLimits) {
        // An unreadable subscription must not affect others, or the write.
        subscriptions = rows.compactMap { try? QuerySubscription($0, schema: schema, limits: limits) }
        var places: [Int64: Int] = [:]
        for (place, subscription) in subscriptions.enumerated() {
            places[subscription.row.number] = place
            if let key = subscription.key {
                byValue[key, default: []].append(place)
                byField[key.fieldName, default: []].append(place)
            } else {
                others.append(place)
            }
        }
        placeOfNumber = places
    }

    var count: Int { subscriptions.count }

    /// True if a subscription fires on deletions, so that the old fields are needed.
    var watchesDeletions: Bool { subscriptions.contains { $0.triggers.contains(.delete) } }

    subscript(number: Int64) -> QuerySubscription? { placeOfNumber[number].map { subscriptions[$0] } }

    /// Returns the number of subscriptions that a record is compared with.
    func candidatesCount(fields: [String: Field]) -> Int { candidates(fields: fields).count }

    /// Returns the subscriptions that a change fires, ordered by number.
    func fired(by trigger: WireSubscription.Trigger, _ record: StoredRecord, fields: [String: Field])
        -> [QuerySubscription]
    {
        let subject = QuerySubject(row: record, fields: fields)
        return candidates(fields: fields).sorted().map { subscriptions[$0] }
            .filter { $0.isFired(by: trigger, subject) }
    }

    private func candidates(fields: [String: Field]) -> [Int] {
        var places = others
        for (fieldName, all) in byField {
            guard let value = fields[fieldName]?.value else { continue }
            if let value = EqualityKey.comparable(value) {
                places += byValue[EqualityKey(fieldName: fieldName, value: value)] ?? []
            } else {
                places += all
            }
        }
        return places
    }
}

/// Cache of the subscriptions to a type while neither they nor the schema change.
final class WatchCache: Sendable {
    private struct Entry: Sendable {
        let version: UInt64
        let schemaVersion: UInt64
        let index: WatchIndex
        var lastUse: UInt64
    }

    private struct State {
        var entries: [WatchKey: Entry] = [:]
        var count = 0
        var uses: UInt64 = 0
    }

    private let subscriptionsMax: Int
    private let state = Lock(State())

    /// Makes a cache of up to `subscriptionsMax` subscriptions.
    init(subscriptionsMax: Int) {
        self.subscriptionsMax = subscriptionsMax
    }

    /// Returns the subscriptions in the snapshot of `row`, created by `make` if they aren't cached.
    func index(
        of row: WatchRow, schemaVersion: UInt64, make: () throws -> WatchIndex
    ) rethrows -> WatchIndex {
        let known = state.withLock { state -> WatchIndex? in
            guard let entry = state.entries[row.key], entry.version == row.version,
                entry.schemaVersion == schemaVersion
            else { return nil }
            state.uses += 1
            state.entries[row.key]?.lastUse = state.uses
            return entry.index
        }
        if let known { return known }
        let index = try make()
        state.withLock { state in
            state.uses += 1
            state.count += index.count - (state.entries[row.key]?.index.count ?? 0)
            state.entries[row.key] = Entry(
                version: row.version, schemaVersion: schemaVersion, index: index, lastUse: state.uses)
            // The least recently used entry is removed first. The one just read stays, regardless of its
            // size.
            while state.count > subscriptionsMax || state.entries.count > subscriptionsMax,
                state.entries.count > 1,
                let oldest = state.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.entries[oldest.key] = nil
                state.count -= oldest.value.index.count
            }
        }
        return index
    }
}
