import Crypto
import SQLite
import System

/// Owns the tables `accounts` and `disabledAccounts`.
package struct AccountTables: Sendable {
    /// Minimum length of an account's new password in characters.
    package static let passwordCharactersMin = 8
    /// Maximum number of developers: `isDeveloper` compares a name with the names of all of them.
    package static let developersMax = 1_000

    let file: ControlFile

    // MARK: - Reading

    /// Returns the account of that name, in upper or lower case, or nil if there is none.
    ///
    /// - Throws: `CloudStoreError`.
    package func find(named name: String) throws -> ControlAccount? {
        try file.read { try Self.find(named: name, $0) }
    }

    /// Returns all accounts, sorted by name.
    ///
    /// - Throws: `CloudStoreError`.
    package func list() throws -> [ControlAccount] {
        try file.read { connection in
            try connection.withStatement("SELECT \(Self.columns) FROM accounts ORDER BY name") {
                try $0.rows { Self.account(in: $0) }
            }
        }
    }

    /// Returns a page of the accounts, sorted by name.
    ///
    /// - Parameters:
    ///   - beginning: Prefix of the names, in upper or lower case. Empty for all accounts.
    ///   - after: Last name of the previous page. Empty for the first page.
    ///   - countMax: Maximum number of accounts.
    /// - Throws: `CloudStoreError`.
    package func page(beginning: String, after: String, countMax: Int) throws -> [ControlAccount] {
        // Names are ASCII, so U+007F follows each name with this prefix.
        let sql = """
            SELECT \(Self.columns) FROM accounts WHERE name > ?1 AND name >= ?2 AND name < ?3
            ORDER BY name LIMIT ?4
            """
        return try file.read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(after, beginning, beginning + "\u{7F}", countMax, at: 1)
                return try statement.rows { Self.account(in: $0) }
            }
        }
    }

    /// Returns the record name of the account's user in `container`. It is always the same in a container, and differs
    /// between containers. Without the server's secret, two names of one account can't be matched.
    ///
    /// - Throws: `CryptoError`.
    package func userRecordName(of account: ControlAccount, container: String) throws -> String {
        try file.secret.userRecordName(key: account.key, container: container)
    }

    /// Returns true if the user with this record name is a developer. Cached for up to
    /// `ControlStore.freshMilliseconds`.
    ///
    /// - Throws: `CloudStoreError`, `CryptoError`.
    package func isDeveloper(userRecordName: String, container: String) throws -> Bool {
        // The account can't be found from a record name, so the name is compared with those of all
        // developers.
        let names = try file.lookUp {
            $0.developers[container]
        } load: { connection -> Set<String>? in
            try connection.withStatement("SELECT key FROM accounts WHERE isDeveloper = 1") { statement in
                var names: Set<String> = []
                while try statement.step() {
                    names.insert(
                        try file.secret.userRecordName(key: statement.bytes(at: 0), container: container))
                }
                return names
            }
        } keep: { cache, names in
            cache.keep(developers: names, container: container)
        }
        return names?.contains(userRecordName) ?? false
    }

    // MARK: - Adding and removing

    /// Adds an account.
    ///
    /// - Parameters:
    ///   - passwordHash: Text of the password's hash (`PasswordHash`).
    ///   - isDeveloper: True if the account may use `development` where that is for developers only.
    /// - Throws: `ControlError.badName`, `ControlError.accountExists`, `ControlError.emailTaken`,
    ///   `ControlError.tooManyDevelopers`, `CloudStoreError`.
    @discardableResult
    package func add(
        name: String, givenName: String? = nil, familyName: String? = nil, email: String? = nil,
        passwordHash: String, isDeveloper: Bool = false
    ) throws -> ControlAccount {
        let key = file.secret.namesUsersByKeys ? Array("_\(name)".utf8) : try RandomBytes.make(count: 16)
        return try add(
            name: name, key: key, givenName: givenName, familyName: familyName, email: email,
            passwordHash: passwordHash, isDeveloper: isDeveloper)
    }

    /// Adds an account without a password to a file that names users by keys. Its user has the given record name.
    ///
    /// - Throws: As `add(name:givenName:familyName:email:passwordHash:isDeveloper:)`.
    package func add(name: String, userRecordName: String) throws {
        precondition(file.secret.namesUsersByKeys, "users have names that follow from a secret")
        try add(name: name, key: Array(userRecordName.utf8), passwordHash: "")
    }

    @discardableResult
    private func add(
        name: String, key: [UInt8], givenName: String? = nil, familyName: String? = nil,
        email: String? = nil, passwordHash: String, isDeveloper: Bool = false
    ) throws -> ControlAccount {
        try ControlNames.checkAccount(name)
        try ControlNames.checkPerson(givenName)
        try ControlNames.checkPerson(familyName)
        try ControlNames.checkEmail(email)
        return try file.write { connection in
            guard try Self.find(named: name, connection) == nil else {
                throw ControlError.accountExists(name: name)
            }
            try Self.checkIsFree(email, besides: nil, connection)
            let sql = """
                INSERT INTO accounts
                (name, key, givenName, familyName, passwordHash, createdMilliseconds, email)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """
            try connection.run(sql) { statement in
                try statement.bind(name, key, givenName, familyName, at: 1)
                try statement.bind(passwordHash, file.clock.nowMilliseconds(), email, at: 5)
            }
            if isDeveloper { try Self.setDeveloper(true, ofAccount: name, connection) }
            return try Self.existing(name, connection)
        }
    }

    /// Removes an account, ends its sessions, and removes its person from the list of discoverable users. The
    /// records of its user stay.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    package func remove(named name: String) throws {
        try file.write { connection in
            let id = try Self.existing(name, connection).id
            try SessionTable.removeAll(ofAccount: id, connection)
            try PersonTable.removeAll(ofAccount: id, connection)
            try SignInPlaceTable.removeAll(ofAccount: id, connection)
            for sql in [
                "DELETE FROM disabledAccounts WHERE account = ?", "DELETE FROM accounts WHERE id = ?",
            ] {
                try connection.run(sql) { try $0.bind(id, at: 1) }
            }
        }
    }

    // MARK: - For transactions of other owners

    /// Returns the account of that name, in upper or lower case, or nil if there is none.
    static func find(named name: String, _ connection: Connection) throws -> ControlAccount? {
        let sql = "SELECT \(columns) FROM accounts WHERE name = ?"
        return try connection.withStatement(sql) { statement in
            try statement.bind(name, at: 1)
            return try statement.step() ? account(in: statement) : nil
        }
    }

    /// Returns the account of that name, in upper or lower case.
    ///
    /// - Throws: `ControlError.noSuchAccount`.
    static func existing(_ name: String, _ connection: Connection) throws -> ControlAccount {
        guard let account = try find(named: name, connection) else {
            throw ControlError.noSuchAccount(name: name)
        }
        return account
    }

    /// Joins each row of another table with its account `a`: `key`, `name`, `givenName`, `familyName`, `email`.
    ///
    /// - Parameter column: The other table's column with the account's id.
    static func join(on column: String) -> String { "JOIN accounts a ON a.id = \(column)" }

    // MARK: - Rows

    private static let columns =
        "id, name, givenName, familyName, passwordHash, createdMilliseconds, key, email, isDeveloper, "
        + "EXISTS (SELECT 1 FROM disabledAccounts d WHERE d.account = accounts.id)"

    private static func account(in statement: borrowing Statement) -> ControlAccount {
        ControlAccount(
            id: statement.int64(at: 0), name: statement.text(at: 1), givenName: statement.optionalText(at: 2),
            familyName: statement.optionalText(at: 3), email: statement.optionalText(at: 7),
            passwordHash: statement.text(at: 4),
            createdMilliseconds: statement.int64(at: 5), isDeveloper: statement.int64(at: 8) != 0,
            isDisabled: statement.int64(at: 9) != 0, key: statement.bytes(at: 6))
    }
}
