import Testing

@testable import Yap

/// The groups of a view in memory, with mappings, and the list that an app keeps by their changes.
struct ViewStage {
    /// An operation on a row. Indexes are those at the moment of the operation.
    enum Operation: Sendable {
        case insert(String, at: Int, in: String = "")
        case delete(String, at: Int, in: String = "")
        case update(String, at: Int, in: String = "", YapDatabaseViewRowChange.Flags = .object)
        case reset(String = "")
    }

    struct Row: Equatable {
        let key: String
        var version = 0
    }

    typealias Mappings = YapDatabaseViewMappings<String>
    typealias Place = ViewRowDelta<String>.Place

    private(set) var mappings: Mappings
    private(set) var groups: [String: [Row]]
    private var list: YapDatabaseViewSections<String, String>
    private var rowIDs: [String: Int64] = [:]
    private var lastVersion = 0
    /// Keys that lost their places in the batch that is played.
    private(set) var displaced: Set<String> = []
    private var flags: [String: YapDatabaseViewRowChange.Flags] = [:]

    /// - Parameter groups: For each group, keys of one character.
    init(_ mappings: Mappings, _ groups: [String: String]) {
        self.mappings = mappings
        self.groups = groups.mapValues { $0.map { Row(key: String($0)) } }
        self.mappings.reset(to: groups.mapValues(\.count))
        list = YapDatabaseViewSections(self.mappings) { _ in "" }
        list = shown()
    }

    /// Applies operations as one batch, and checks that the list is that of the groups afterwards.
    mutating func play(_ operations: [Operation]) -> Mappings.Changes {
        let original = places()
        displaced = []
        flags = [:]
        operations.forEach { play($0) }
        return commit(deltas(from: original))
    }

    /// Changes the range, and checks the list.
    mutating func change(to range: YapDatabaseViewRange, in group: String? = nil) -> Mappings.Changes {
        let before = mappings
        let changes =
            if let group { mappings.changeRange(to: range, in: group) } else {
                mappings.changeRange(to: range)
            }
        check(changes, from: before)
        return changes
    }

    /// The keys that the list shows, by sections.
    var keys: [String] {
        list.sections.map { section in section.rows.map { String($0.prefix(1)) }.joined() }
    }

    private mutating func play(_ operation: Operation) {
        lastVersion += 1
        switch operation {
        case .insert(let key, let index, let group):
            groups[group, default: []].insert(Row(key: key, version: lastVersion), at: index)
            displaced.insert(key)
        case .delete(let key, let index, let group):
            let removed = groups[group]?.remove(at: index)
            #expect(removed?.key == key)
            displaced.insert(key)
        case .update(let key, let index, let group, let flags):
            #expect(groups[group]?[index].key == key)
            groups[group]?[index].version = lastVersion
            self.flags[key, default: []].formUnion(flags)
        case .reset(let group):
            displaced.formUnion(groups.updateValue([], forKey: group)?.map(\.key) ?? [])
        }
    }

    private func places() -> [String: Place] {
        groups.reduce(into: [:]) { places, group in
            for (index, row) in group.value.enumerated() {
                places[row.key] = Place(group: group.key, index: index)
            }
        }
    }

    private mutating func deltas(from original: [String: Place]) -> [ViewRowDelta<String>] {
        let final = places()
        return displaced.union(flags.keys).sorted().compactMap { key in
            guard original[key] != nil || final[key] != nil else { return nil }
            let id = rowIDs[key] ?? Int64(rowIDs.count + 1)
            rowIDs[key] = id
            return ViewRowDelta(
                rowID: id, original: original[key], final: final[key],
                keptPlace: !displaced.contains(key), flags: flags[key] ?? [])
        }
    }

    private mutating func commit(_ deltas: [ViewRowDelta<String>]) -> Mappings.Changes {
        let before = mappings
        let changes = mappings.apply(deltas, counts: groups.mapValues(\.count))
        check(changes, from: before)
        return changes
    }
}

extension ViewStage {
    /// The text of a row: the row, with those that it depends on.
    private func text(at path: YapDatabaseViewPath) -> String {
        ([0] + mappings.dependentOffsets.map { -$0 }).map { offset in
            let neighbour = YapDatabaseViewPath(section: path.section, row: path.row + offset)
            guard let (group, index) = mappings.place(of: neighbour), let row = groups[group]?[index] else {
                return "-"
            }
            return "\(row.key)\(row.version)"
        }.joined(separator: " ")
    }

    private func shown() -> YapDatabaseViewSections<String, String> {
        YapDatabaseViewSections(mappings) { text(at: $0) }
    }

    /// Applies changes to the list, which must then show what the groups have.
    private mutating func check(_ changes: Mappings.Changes, from before: Mappings) {
        let now = self
        list.apply(sections: changes.sections, rows: changes.rows) { now.text(at: $0) }
        #expect(list == shown())
        #expect(changes.rows.allSatisfy { $0.kind != .update || $0.original == $0.final })
        let originals = changes.rows.compactMap(\.original)
        let finals = changes.rows.compactMap(\.final)
        let ids = changes.rows.compactMap(\.rowID)
        #expect(Set(originals).count == originals.count && Set(finals).count == finals.count)
        #expect(Set(ids).count == ids.count)
        guard before.isConsolidated == mappings.isConsolidated else { return }
        // Rows that didn't change are reported at the edges of ranges only, or as dependents.
        #expect(
            changes.rows.allSatisfy { change in
                change.rowID != nil || change.flags == .dependency
                    || change.flags.isEmpty && [.insert, .delete].contains(change.kind)
            })
    }

    /// Changes in words, in the order of the report: `delete 0.2`, `move 0.0>0.2`, `update 0.3 object`.
    static func words(_ changes: [YapDatabaseViewRowChange]) -> [String] {
        changes.map { change in
            let paths = [change.original, change.kind == .update ? nil : change.final].compactMap { path in
                path.map { "\($0.section).\($0.row)" }
            }
            let names: [(YapDatabaseViewRowChange.Flags, String)] = [
                (.object, " object"), (.metadata, " metadata"), (.dependency, " dependency"),
            ]
            let flags = names.filter { change.flags.contains($0.0) }.map(\.1).joined()
            return "\(change.kind) \(paths.joined(separator: ">"))\(flags)"
        }
    }

    /// Section changes in words: `delete 1 b`.
    static func words(_ changes: [YapDatabaseViewSectionChange<String>]) -> [String] {
        changes.map { change in
            switch change {
            case .delete(let section, let group): "delete \(section) \(group)"
            case .insert(let section, let group): "insert \(section) \(group)"
            }
        }
    }
}
