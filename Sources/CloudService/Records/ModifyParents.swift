import CloudStore
import CloudWire

/// The ancestors to load for the records that a batch saves, one level at a time, up to the limits.
struct AncestorLoads {
    /// The parents in the batch, by record.
    private let given: [RecordKey: RecordKey]
    private let limits: ServiceLimits
    /// The records at one distance from those that get a new parent.
    private var level: Set<RecordKey>
    private var seen: Set<RecordKey>
    private var depth = 0

    init(outcomes: [ModifyOutcome], keys: [RecordKey?], limits: ServiceLimits) {
        var given: [RecordKey: RecordKey] = [:]
        var level = Set<RecordKey>()
        for case (.save(let draft), let key?) in zip(outcomes, keys) {
            guard let parent = draft.parent else { continue }
            let target = RecordKey(zone: key.zone, recordName: parent)
            given[key] = target
            if draft.hasNewParent { level.insert(target) }
        }
        self.given = given
        self.limits = limits
        self.level = level
        seen = level
    }

    /// Returns the records to load next. Empty if all are known, or a record has more ancestors than allowed.
    ///
    /// A save may still fail, so the ancestors of both the old and the new parent are loaded.
    /// - Throws: `LimitExceeded` if the request's records have too many ancestors in total.
    mutating func next(in loaded: StoreLoaded, asked: Set<RecordKey>) throws -> [RecordKey] {
        while !level.isEmpty {
            let unknown = level.subtracting(asked)
            guard unknown.isEmpty else { return unknown.sorted() }
            depth += 1
            guard depth < limits.ancestorsMax else { return [] }
            var above = Set<RecordKey>()
            for key in level {
                let stored = loaded.records[key].flatMap { $0.parentKey }
                for parent in [stored, given[key]].compactMap(\.self) where seen.insert(parent).inserted {
                    above.insert(parent)
                }
            }
            guard seen.count <= limits.ancestorsOfRequestMax else {
                throw ServiceError.tooManyAncestors(ofRequest: limits.ancestorsOfRequestMax)
            }
            level = above
        }
        return []
    }
}

/// Checks of parents after a batch.
extension ModifyReferences {
    /// Returns the saves that would make a record its own ancestor, or give it more ancestors than allowed.
    ///
    /// Checks only saves that change the parent, so that records stored by an earlier version can still be
    /// changed. All saves that form a cycle fail, so the order of operations doesn't matter.
    func parentFailures() -> [(Int, WireError)] {
        var counts = AncestorCounts()
        return newParents.compactMap { index in
            guard case .save(let draft) = outcomes[index], let key = keys[index], let parent = draft.parent
            else { return nil }
            counts.count(from: key, parent: self.parent(of:))
            if counts.isInCircle(key) {
                return (index, ServiceError.circularParent(of: key.recordName, parent: parent))
            }
            guard counts[key] > limits.ancestorsMax else { return nil }
            return (
                index, ServiceError.tooManyAncestors(of: key.recordName, ancestorsMax: limits.ancestorsMax)
            )
        }
    }

    private func parent(of key: RecordKey) -> RecordKey? {
        guard isThere(key) else { return nil }
        if let index = indexOfKey[key], case .save(let draft) = outcomes[index] {
            return draft.parent.map { RecordKey(zone: key.zone, recordName: $0) }
        }
        return loaded.records[key]?.parentKey
    }
}

/// Numbers of ancestors of records. Each record is processed once.
private struct AncestorCounts {
    private var counts: [RecordKey: Int] = [:]
    private var circles = Set<RecordKey>()

    subscript(key: RecordKey) -> Int { counts[key] ?? 0 }

    func isInCircle(_ key: RecordKey) -> Bool { circles.contains(key) }

    /// Counts the ancestors of `key`, and of all records on the path. A cycle ends the path, and counts as
    /// none.
    mutating func count(from key: RecordKey, parent: (RecordKey) -> RecordKey?) {
        var path: [RecordKey] = []
        var places: [RecordKey: Int] = [:]
        var next: RecordKey? = key
        while let current = next, counts[current] == nil {
            if let place = places[current] {
                for member in path[place...] {
                    circles.insert(member)
                    counts[member] = 0
                }
                path.removeSubrange(place...)
            } else {
                places[current] = path.count
                path.append(current)
                next = parent(current)
            }
        }
        var count = next.map { self[$0] + 1 } ?? 0
        for member in path.reversed() {
            counts[member] = count
            count += 1
        }
    }
}

extension RecordDraft {
    /// True if the record gets another parent than it had.
    var hasNewParent: Bool { parent != nil && parent != old?.parent }
}

extension StoredRecord {
    /// The record's parent, or nil for a tombstone.
    fileprivate var parentKey: RecordKey? {
        isDeleted ? nil : parent.map { RecordKey(zone: key.zone, recordName: $0) }
    }
}
