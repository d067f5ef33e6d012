internal import SQLite

/// The extension's rows in Yap's own table: its former version tags, without the last one, which Yap stores itself.
struct RegistrationRows: SyncTable {
    let statements: SyncStatements

    /// Prefix of a tag in the key of its row. The row belongs to the extension and is deleted with it.
    private static let formerTagPrefix = "formerVersionTag "

    func noteFormerVersionTag(_ tag: String) throws {
        try run(
            "INSERT OR REPLACE INTO yap2 (extension, key, data) VALUES (?1, ?2, x'')",
            [.text(name), .text(Self.formerTagPrefix + tag)])
    }

    func formerVersionTags() throws -> [String] {
        try rows(
            "SELECT key FROM yap2 WHERE extension = ?1 AND substr(key, 1, ?2) = ?3 ORDER BY key",
            [.text(name), .integer(Int64(Self.formerTagPrefix.count)), .text(Self.formerTagPrefix)]
        ) { String($0.text(at: 0).dropFirst(Self.formerTagPrefix.count)) }
    }

    /// Returns true if a commit was made without the extension since it was registered.
    func hasMissedCommits() throws -> Bool {
        try first(
            "SELECT 1 FROM yap2 WHERE extension = ?1 AND key = 'hasMissedCommits'", [.text(name)]
        ) { _ in true } ?? false
    }
}
