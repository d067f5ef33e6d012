import CloudStore
import CloudWire

/// Which ancestors of the records that a batch saves have to be loaded: a level at a time, as far as the limits allow.
struct AncestorLoads {
    /// The parents that the batch gives, by record.
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

    /// The records to load next; none when all are known, or a record has more ancestors than it may.
    ///
    /// A save may still fail, so of a record that gets another parent both lines are followed.
    /// - Throws: `LimitExceeded` when the request's records have too many ancestors together.
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

/// The parents of records when a batch is done.
extension ModifyReferences {
    /// The saves with which a record would be its own ancestor, or would have more ancestors than it may.
    ///
    /// Looks at saves that set another parent than the record had: what an earlier version stored can still be changed.
    /// All saves that close a circle fail, so the order of the operations doesn't matter.
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

/// How many ancestors records have. Each record is looked at once.
private struct AncestorCounts {
    private var counts: [RecordKey: Int] = [:]
    private var circles = Set<RecordKey>()

    subscript(key: RecordKey) -> Int { counts[key] ?? 0 }

    func isInCircle(_ key: RecordKey) -> Bool { circles.contains(key) }

    /// Counts the ancestors of `key`, and of all on the way up. A circle ends the way, and counts as none.
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
    /// True if it has a parent that the record didn't have before.
    var hasNewParent: Bool { parent != nil && parent != old?.parent }
}

extension StoredRecord {
    /// The record's parent; nil for a tombstone.
    fileprivate var parentKey: RecordKey? {
        isDeleted ? nil : parent.map { RecordKey(zone: key.zone, recordName: $0) }
    }
}
