/// A page of the users with records, tombstones or zones in their private databases, sorted by record name.
package struct OwnersLoad: Hashable, Sendable {
    /// Last user of the previous page. Empty for the first page.
    package var after: String
    /// Maximum number of users.
    package var ownersMax: Int

    /// Makes a query for a page.
    package init(after: String = "", ownersMax: Int) {
        self.after = after
        self.ownersMax = ownersMax
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
