import SQLite

/// Stored property names of a collection's type, in all its versions.
struct NotedNames {
    /// Maximum names of a collection. Further names aren't stored.
    static let namesMax = 1_000

    /// A change of the type that added and removed properties. Only the last one is kept.
    private struct Change: Codable {
        var added: Set<String>
        var dropped: Set<String>
    }

    /// Property names of all versions of the type.
    let all: Set<String>
    private let config: ConfigTable
    private let collection: String

    /// - Throws: `SQLiteError`. Values that only another program can have written are ignored.
    init(_ config: ConfigTable, _ collection: String) throws {
        let bytes = try config.bytes(extension: "", key: ConfigTable.namesKey(collection))
        all = bytes.flatMap { try? CBORDecoder().decode(Set<String>.self, from: $0) } ?? []
        self.config = config
        self.collection = collection
    }

    /// Stores the names of a type, if some are new.
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

    /// Stores names found in objects of an unregistered type. It is unknown whether the type changed.
    ///
    /// - Throws: `SQLiteError`, or `EncodingError`.
    func add(_ names: Set<String>) throws {
        let sum = all.union(names)
        guard sum.count > all.count, sum.count <= Self.namesMax else { return }
        try config.setBytes(
            CBOREncoder().encode(sum), extension: "", key: ConfigTable.namesKey(collection))
    }

    /// Returns a function that returns true if the type may have gained a property in the change that removed another
    /// one. An older property is absent in stored objects because it was never set.
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
