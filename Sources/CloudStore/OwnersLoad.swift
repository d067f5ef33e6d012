import SQLite

/// A part of the list of users who have records, tombstones or zones in their private databases, by record name.
public struct OwnersLoad: Hashable, Sendable {
    /// Users behind this one; empty: from the first.
    public var after: String
    /// How many at most.
    public var ownersMax: Int

    /// Asks for a part of the list.
    public init(after: String = "", ownersMax: Int) {
        self.after = after
        self.ownersMax = ownersMax
    }
}

extension SQLiteStoreTransaction {
    func loadOwners(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        guard let asked = wanted.owners else { return }
        // One step in each table's key for each user, however much they have.
        let sql = """
            SELECT min(owner) FROM (
                SELECT min(owner) AS owner FROM records WHERE scope = ?1 AND owner > ?2
                UNION ALL SELECT min(owner) FROM zones WHERE scope = ?1 AND owner > ?2)
            """
        var after = asked.after
        while loaded.owners.count < asked.ownersMax {
            let next = try connection.withStatement(sql) { statement -> String? in
                try statement.bind(DatabaseKey.Scope.privateDatabase.rawValue, at: 1)
                try statement.bind(after, at: 2)
                return try statement.step() ? statement.optionalText(at: 0) : nil
            }
            guard let next else { return }
            loaded.owners.append(next)
            after = next
        }
    }
}

extension MemoryTransaction {
    func loadOwners(_ wanted: StoreLoad, into loaded: inout StoreLoaded) {
        guard let asked = wanted.owners else { return }
        let zones = tables.records.filter { !$0.value.isEmpty }.map(\.key) + tables.zones.keys
        let owners = Set(zones.map(\.database).filter { $0.scope == .privateDatabase }.map(\.owner))
        loaded.owners = Array(
            owners.filter { asked.after.utf8.lexicographicallyPrecedes($0.utf8) }
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.prefix(asked.ownersMax))
    }
}
