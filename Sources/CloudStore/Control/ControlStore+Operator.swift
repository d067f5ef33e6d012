import SQLite

extension ControlStore {
    /// What SQLite finds wrong with the file; empty when it is sound.
    ///
    /// - Throws: `CloudStoreError`.
    public func integrityCheck() throws -> [String] {
        try read { try $0.integrityCheck() }
    }

    /// Removes an account, ends its sessions, and lets nobody find its person. What its user has stored stays where it
    /// is.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    public func removeAccount(named name: String) throws {
        try write { connection in
            let id = try Self.id(ofAccount: name, connection)
            for sql in [
                "DELETE FROM sessions WHERE account = ?", "DELETE FROM discoverable WHERE account = ?",
                "DELETE FROM signIns WHERE account = ?", "DELETE FROM disabledAccounts WHERE account = ?",
                "DELETE FROM accounts WHERE id = ?",
            ] {
                try connection.run(sql) { try $0.bind(id, at: 1) }
            }
        }
    }

    private static func id(ofAccount name: String, _ connection: Connection) throws -> Int64 {
        try connection.withStatement("SELECT id FROM accounts WHERE name = ?") { statement in
            try statement.bind(name, at: 1)
            guard try statement.step() else { throw ControlError.noSuchAccount(name: name) }
            return statement.int64(at: 0)
        }
    }
}
