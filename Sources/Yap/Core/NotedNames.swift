import SQLite

/// What a file says of the names that the properties of a collection's type had, in all versions of the type.
struct NotedNames {
    /// Names of a collection beyond which no more are noted.
    static let namesMax = 1_000

    /// A change of the type that added properties and took others away. Only the last one is kept.
    private struct Change: Codable {
        var added: Set<String>
        var dropped: Set<String>
    }

    /// The names of all properties that a version of the type knew.
    let all: Set<String>
    private let config: ConfigTable
    private let collection: String

    /// - Throws: `SQLiteError`. What only something else than Yap can have written counts as nothing.
    init(_ config: ConfigTable, _ collection: String) throws {
        let bytes = try config.bytes(extension: "", key: ConfigTable.namesKey(collection))
        all = bytes.flatMap { try? CBORDecoder().decode(Set<String>.self, from: $0) } ?? []
        self.config = config
        self.collection = collection
    }

    /// Notes the names that a type knows, where there are new ones.
    ///
    /// - Throws: `SQLiteError`, or `EncodingError`.
    func note(_ known: Set<String>) throws {
        let added = known.subtracting(all)
        guard !added.isEmpty, all.count + added.count <= Self.namesMax else { return }
        try config.setBytes(
            CBOREncoder().encode(all.union(added)), extension: "", key: ConfigTable.namesKey(collection))
        let dropped = all.subtracting(known)
        guard !dropped.isEmpty else { return }
        try config.setBytes(
            CBOREncoder().encode(Change(added: added, dropped: dropped)), extension: "",
            key: ConfigTable.changedNamesKey(collection))
    }

    /// Notes names that stored objects have, of a type that isn't at hand: nothing is known of a change of the type.
    ///
    /// - Throws: `SQLiteError`, or `EncodingError`.
    func add(_ names: Set<String>) throws {
        let sum = all.union(names)
        guard sum.count > all.count, sum.count <= Self.namesMax else { return }
        try config.setBytes(
            CBOREncoder().encode(sum), extension: "", key: ConfigTable.namesKey(collection))
    }

    /// Tells whether the type may have got a property in the change that took another one from it. A property that is
    /// older is absent in stored objects because nobody has set it.
    ///
    /// - Throws: `SQLiteError`.
    func mayBeRenamed() throws -> (_ former: String, _ property: String) -> Bool {
        let bytes = try config.bytes(extension: "", key: ConfigTable.changedNamesKey(collection))
        let change = bytes.flatMap { try? CBORDecoder().decode(Change.self, from: $0) }
        return { [all] former, property in
            guard all.contains(former) else { return false }
            guard all.contains(property) else { return true }
            return change.map { $0.added.contains(property) && $0.dropped.contains(former) } ?? false
        }
    }
}
