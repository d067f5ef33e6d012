import SQLite

/// The accounts that may use `development` where that isn't for everyone.
extension ControlStore {
    /// How many accounts may be developers: their names are looked through as a whole.
    public static let developersMax = 1_000

    /// Makes an account a developer's, or no longer.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `ControlError.tooManyDevelopers`, `CloudStoreError`.
    public func setDeveloper(_ isDeveloper: Bool, ofAccount name: String) throws {
        try write { try setDeveloper(isDeveloper, ofAccount: name, $0) }
    }

    func setDeveloper(_ isDeveloper: Bool, ofAccount name: String, _ connection: Connection) throws {
        try connection.run("UPDATE accounts SET isDeveloper = ? WHERE name = ?") {
            try $0.bind(isDeveloper, name, at: 1)
        }
        guard connection.changesCount == 1 else { throw ControlError.noSuchAccount(name: name) }
        let count = try ControlFormat.value(
            of: "SELECT count(*) FROM accounts WHERE isDeveloper = 1", connection)
        guard count <= Self.developersMax else {
            throw ControlError.tooManyDevelopers(developersMax: Self.developersMax)
        }
    }

    /// Whether the user is a developer: their record's name tells of no account, so those of all developers are
    /// compared. From memory as `session(token:)`.
    public func isDeveloper(userRecordName: String, container: String) throws -> Bool {
        let names = try lookUp {
            $0.developers[container]
        } load: { connection -> Set<String>? in
            try connection.withStatement("SELECT key FROM accounts WHERE isDeveloper = 1") { statement in
                var names: Set<String> = []
                while try statement.step() {
                    names.insert(try self.userRecordName(key: statement.bytes(at: 0), container: container))
                }
                return names
            }
        } keep: { cache, names in
            cache.keep(developers: names, container: container)
        }
        return names?.contains(userRecordName) ?? false
    }
}
