import SQLite

/// Type of a view's groups: texts, numbers, enumerations, structs.
///
/// Groups are compared with `==`, not by their bytes, and sections are sorted by `<`. Keep groups small: each is
/// stored once, and cached in memory.
public typealias YapDatabaseViewGroup = Codable & Comparable & Hashable & Sendable

/// The committed groups of a view at one SQLite handle, and their ids in entries.
///
/// Loaded at the first use in a transaction, and then updated with the groups that each commit created and removed.
final class ViewGroupNames<Group: YapDatabaseViewGroup> {
    private(set) var ids: [Group: Int64]?
    private(set) var groups: [Int64: Group] = [:]

    func load(_ rows: [(id: Int64, group: Group)]) {
        ids = [:]
        groups = [:]
        for row in rows { add(row.id, row.group) }
    }

    func apply(_ changes: ViewChanges<Group>) {
        if changes.isEverything { return drop() }
        guard ids != nil else { return }
        for id in changes.removedGroupIDs {
            if let group = groups.removeValue(forKey: id), ids?[group] == id { ids?[group] = nil }
        }
        for (id, group) in changes.newGroups { add(id, group) }
    }

    func drop() {
        ids = nil
        groups = [:]
    }

    private func add(_ id: Int64, _ group: Group) {
        ids?[group] = id
        groups[id] = group
    }
}

/// Groups of a view in one transaction, including those that it creates and removes.
struct ViewGroups<Group: YapDatabaseViewGroup> {
    private let sql: ViewSQL
    private let tables: YapDatabaseExtensionTables
    private let names: ViewGroupNames<Group>
    /// Change of each group's number of entries since the counts were written.
    private var countChanges: [Int64: Int] = [:]
    /// Groups with damaged counts. Their entries are counted again.
    private var uncounted: Set<Int64> = []
    private var newIDs: [Group: Int64] = [:]
    private(set) var newGroups: [Int64: Group] = [:]
    private(set) var removedIDs: Set<Int64> = []
    private var lastID: Int64?

    init(_ sql: ViewSQL, _ tables: YapDatabaseExtensionTables, _ names: ViewGroupNames<Group>) {
        self.sql = sql
        self.tables = tables
        self.names = names
    }

    /// Returns the id of a group, or nil if no row is in it.
    func id(of group: Group) throws -> Int64? {
        if let id = newIDs[group] { return id }
        guard let id = try knownIDs()[group], !removedIDs.contains(id) else { return nil }
        return id
    }

    /// Returns the group with an id.
    func group(_ id: Int64) throws -> Group {
        _ = try knownIDs()
        if let group = newGroups[id] ?? names.groups[id] { return group }
        throw YapDatabaseError(.corrupt, "the view has no group \(id)")
    }

    /// Returns the number of entries of each group.
    ///
    /// - Throws: `YapDatabaseError`: `corrupt` for an impossible number.
    func counts() throws -> [Group: Int] {
        var counts: [Group: Int] = [:]
        for (id, count) in try tables.withStatement(sql.groups, [], Self.idsAndCounts) {
            guard 0...Self.countMax ~= count else {
                throw YapDatabaseError(
                    .corrupt, "a group of a view counts \(count) rows: register the view with another version"
                )
            }
            counts[try group(id)] = count
        }
        return counts
    }

    /// Maximum number of entries of a group. Sums of such counts don't overflow.
    private static var countMax: Int { 1 << 40 }

    // MARK: Changing

    /// Returns the id of a group, and creates the group if it doesn't exist.
    mutating func makeID(of group: Group) throws -> Int64 {
        if let id = try id(of: group) { return id }
        let id = (lastID ?? names.groups.keys.max() ?? 0) + 1
        let bytes: [UInt8]
        do {
            bytes = try CBOREncoder().encode(group)
        } catch {
            throw YapDatabaseError(.encoding, "the group \(group) of a view can't be encoded: \(error)")
        }
        try tables.withStatement(sql.insertGroup, [.integer(id), .blob(bytes)]) { try $0.run() }
        lastID = id
        newIDs[group] = id
        newGroups[id] = group
        return id
    }

    mutating func changeCount(of id: Int64, by number: Int) {
        countChanges[id, default: 0] += number
    }

    /// Counts the entries of a group again when the counts are next written.
    mutating func countAgain(_ id: Int64) {
        countChanges[id] = countChanges[id] ?? 0
        uncounted.insert(id)
    }

    /// Writes the counts, and removes the groups without entries.
    ///
    /// - Returns: The ids of the removed groups.
    mutating func writeCounts() throws -> [Int64] {
        var removed: [Int64] = []
        for (id, change) in countChanges {
            var count = try tables.withStatement(sql.count, [.integer(id)]) {
                try $0.step() ? Int($0.int64(at: 0)) : 0
            }
            if uncounted.contains(id) || !(0...Self.countMax ~= count) {
                count = try countEntries(id)
            } else {
                count += change
                // A damaged count must not remove a group that has entries.
                if count <= 0 { count = try countEntries(id) }
            }
            if count > 0 {
                try tables.withStatement(sql.setCount, [.integer(id), .integer(Int64(count))]) {
                    try $0.run()
                }
            } else {
                try tables.withStatement(sql.deleteGroup, [.integer(id)]) { try $0.run() }
                removed.append(id)
            }
        }
        countChanges = [:]
        uncounted = []
        for id in removed { forget(id) }
        return removed
    }

    private func countEntries(_ id: Int64) throws -> Int {
        try tables.withStatement(sql.countOfGroup, [.integer(id)]) {
            try $0.step() ? Int($0.int64(at: 0)) : 0
        }
    }

    /// Removes all groups. Their rows are deleted.
    mutating func removeAll() {
        let ids = (names.ids ?? [:]).values
        lastID = max(lastID ?? 0, ids.max() ?? 0)
        removedIDs.formUnion(ids)
        countChanges = [:]
        newIDs = [:]
        newGroups = [:]
    }

    private mutating func forget(_ id: Int64) {
        if let group = newGroups.removeValue(forKey: id) { newIDs[group] = nil }
        // Including groups that this transaction created, because the names may have been loaded since.
        removedIDs.insert(id)
    }

    // MARK: Inside

    private func knownIDs() throws -> [Group: Int64] {
        if let ids = names.ids { return ids }
        let rows: [(id: Int64, group: Group)] = try tables.withStatement(sql.groups) { statement in
            var rows: [(id: Int64, group: Group)] = []
            while try statement.step() {
                do {
                    let group = try statement.withBytes(at: 1) {
                        try CBORDecoder().decode(Group.self, from: $0)
                    }
                    rows.append((statement.int64(at: 0), group))
                } catch {
                    throw YapDatabaseError(.decoding, "a group of a view isn't a \(Group.self): \(error)")
                }
            }
            return rows
        }
        names.load(rows)
        return names.ids ?? [:]
    }

    private static func idsAndCounts(_ statement: borrowing Statement) throws -> [(Int64, Int)] {
        var rows: [(Int64, Int)] = []
        while try statement.step() { rows.append((statement.int64(at: 0), Int(statement.int64(at: 2)))) }
        return rows
    }
}
