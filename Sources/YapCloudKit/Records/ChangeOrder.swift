internal import CloudKit
internal import CloudWire
internal import SQLite

/// References of a commit's changes. The server rejects a child before its parent, and the deletion of a parent that
/// has a child.
///
/// They are recorded when a change is queued, because the queue may keep only the names of its fields.
/// A commit without references records nothing.
struct ChangeLinks {
    /// Names of the records that a saved record references, by change-set and record. They are in its own
    /// zone.
    private(set) var targets: [Int64: [Int64: [String]]] = [:]
    /// Names of the records that a record referenced before it was saved or deleted.
    private(set) var formerTargets: [Int64: [Int64: [String]]] = [:]

    /// Records the references of a save.
    mutating func note(
        _ record: Int64, in sequence: Int64, _ fields: [String: Field], originals: [String: Field]
    ) {
        let names = Self.names(in: fields)
        if !names.isEmpty { targets[sequence, default: [:]][record, default: []] += names }
        noteFormer(record, in: sequence, originals)
    }

    /// Records the references that a record had before.
    mutating func noteFormer(_ record: Int64, in sequence: Int64, _ fields: [String: Field]) {
        let names = Self.names(in: fields)
        if !names.isEmpty { formerTargets[sequence, default: [:]][record, default: []] += names }
    }

    /// Change-sets with references.
    var sequences: [Int64] { Set(targets.keys).union(formerTargets.keys).sorted() }

    private static func names(in fields: [String: Field]) -> [String] {
        var names: [String] = []
        for field in fields.values {
            switch field.value {
            case .reference(let target): names.append(target.recordName)
            case .list(.referenceList, let targets):
                for case .reference(let target) in targets { names.append(target.recordName) }
            default: break
            }
        }
        return names
    }
}

/// Orders the changes in a change-set by their dependencies.
struct ChangeOrder {
    /// For each change, in the current order, the changes that have to be sent before it.
    var needs: [[Int]]

    /// Returns the changes in an order that the server accepts. Changes without dependencies keep their
    /// order. A cycle is broken at one of its changes.
    func sorted() -> [Int] {
        var order: [Int] = []
        order.reserveCapacity(needs.count)
        var isSeen = [Bool](repeating: false, count: needs.count)
        for start in needs.indices where !isSeen[start] {
            // A separate stack instead of recursion, because a chain may be as long as the commit.
            var path = [(change: start, next: 0)]
            isSeen[start] = true
            while let (change, next) = path.last {
                guard next < needs[change].count else {
                    order.append(change)
                    path.removeLast()
                    continue
                }
                path[path.count - 1].next += 1
                let needed = needs[change][next]
                if !isSeen[needed] {
                    isSeen[needed] = true
                    path.append((needed, 0))
                }
            }
        }
        return order
    }
}

/// The properties of a change that determine its position.
private struct PlacedChange {
    var id: Int64
    var ordinal: Int64
    var record: Int64
    var isDeletion: Bool
    var target: Target

    /// The target of a reference.
    struct Target: Hashable {
        var zoneOwner: String
        var zoneName: String
        var recordName: String
    }
}

extension QueueTables {
    /// Sorts the changes of a change-set into an order that the server accepts.
    func sort(_ sequence: Int64, _ links: ChangeLinks) throws {
        let changes = try rows(
            """
            SELECT c.id, c.ordinal, c.record, c.kind, r.zone_owner, r.zone_name, r.record_name
            FROM \(table("change")) AS c JOIN \(records.recordTable) AS r ON r.id = c.record
            WHERE c.sequence = ?1 ORDER BY c.ordinal, c.id
            """, [.integer(sequence)]
        ) {
            PlacedChange(
                id: $0.int64(at: 0), ordinal: $0.int64(at: 1), record: $0.int64(at: 2),
                isDeletion: $0.int64(at: 3) == SyncItem.Kind.delete.rawValue,
                target: .init(zoneOwner: $0.text(at: 4), zoneName: $0.text(at: 5), recordName: $0.text(at: 6))
            )
        }
        let order = ChangeOrder(needs: links.needs(of: changes, in: sequence)).sorted()
        guard order != Array(changes.indices) else { return }
        // Reassigns the existing ordinals in the new order. Changes in a file of version 2 have only their
        // number.
        let places = changes.map { $0.ordinal == 0 ? $0.id : $0.ordinal }.sorted()
        for (place, index) in zip(places, order) where changes[index].ordinal != place {
            try run(
                "UPDATE \(table("change")) SET ordinal = ?2 WHERE id = ?1",
                [.integer(changes[index].id), .integer(place)])
        }
    }
}

extension ChangeLinks {
    fileprivate func needs(of changes: [PlacedChange], in sequence: Int64) -> [[Int]] {
        var saves: [PlacedChange.Target: Int] = [:]
        var deletions: [PlacedChange.Target: Int] = [:]
        for (index, change) in changes.enumerated() {
            if change.isDeletion { deletions[change.target] = index } else { saves[change.target] = index }
        }
        let targets = targets[sequence] ?? [:]
        let formerTargets = formerTargets[sequence] ?? [:]
        var needs = [[Int]](repeating: [], count: changes.count)
        for (index, change) in changes.enumerated() {
            func found(_ name: String, in places: [PlacedChange.Target: Int]) -> Int? {
                var target = change.target
                target.recordName = name
                return places[target].flatMap { $0 == index ? nil : $0 }
            }
            if !change.isDeletion {
                needs[index] += (targets[change.record] ?? []).compactMap { found($0, in: saves) }.sorted()
            }
            // A record is deleted after all records that referenced it were deleted, or saved without the
            // reference.
            for name in formerTargets[change.record] ?? [] {
                if let deletion = found(name, in: deletions) { needs[deletion].append(index) }
            }
        }
        return needs
    }
}
