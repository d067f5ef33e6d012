import Crypto
import SQLite
import System

extension ControlStore {
    /// Minimum length of an account's new password in characters.
    public static let passwordCharactersMin = 8

    /// Makes an account. The password comes as its hash's text (`PasswordHash`).
    ///
    /// - Parameter isDeveloper: whether it may use `development` where that isn't for everyone.
    /// - Throws: `ControlError.badName`, `ControlError.accountExists`, `ControlError.emailTaken`,
    ///   `ControlError.tooManyDevelopers`, `CloudStoreError`.
    @discardableResult
    public func addAccount(
        name: String, givenName: String? = nil, familyName: String? = nil, email: String? = nil,
        passwordHash: String, isDeveloper: Bool = false
    ) throws -> ControlAccount {
        let key = namesUsersByKeys ? Array("_\(name)".utf8) : try RandomBytes.make(count: 16)
        return try addAccount(
            name: name, key: key, givenName: givenName, familyName: familyName, email: email,
            passwordHash: passwordHash, isDeveloper: isDeveloper)
    }

    /// Adds an account without a password to a file that names users by keys. Its user has the given record name.
    ///
    /// - Throws: as `addAccount(name:givenName:familyName:email:passwordHash:isDeveloper:)`.
    package func addAccount(name: String, userRecordName: String) throws {
        precondition(namesUsersByKeys, "users have names that follow from a secret")
        try addAccount(name: name, key: Array(userRecordName.utf8), passwordHash: "")
    }

    @discardableResult
    private func addAccount(
        name: String, key: [UInt8], givenName: String? = nil, familyName: String? = nil,
        email: String? = nil, passwordHash: String, isDeveloper: Bool = false
    ) throws -> ControlAccount {
        try ControlNames.checkAccount(name)
        try ControlNames.checkPerson(givenName)
        try ControlNames.checkPerson(familyName)
        try ControlNames.checkEmail(email)
        return try write { connection in
            guard try Self.account(named: name, connection) == nil else {
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
                try statement.bind(passwordHash, clock.nowMilliseconds(), email, at: 5)
            }
            if isDeveloper { try setDeveloper(true, ofAccount: name, connection) }
            guard let account = try Self.account(named: name, connection) else {
                throw ControlError.noSuchAccount(name: name)
            }
            return account
        }
    }

    /// Gives an account another password and ends its sessions. One that is disabled has it when it is enabled again.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    public func setPasswordHash(_ passwordHash: String, ofAccount name: String) throws {
        try write { connection in
            let account = try Self.existingAccount(name, connection)
            if try !Self.keepAside(passwordHash, of: account.id, connection) {
                try Self.setHash(passwordHash, of: account.id, connection)
            }
            try Self.deleteSessions(of: account.id, connection)
        }
    }

    /// The account of that name, in whichever case; nil when there is none.
    public func account(named name: String) throws -> ControlAccount? {
        try read { try Self.account(named: name, $0) }
    }

    /// All accounts, by name.
    public func accounts() throws -> [ControlAccount] {
        try read { connection in
            try connection.withStatement("SELECT \(Self.accountColumns) FROM accounts ORDER BY name") {
                try $0.rows { Self.account(in: $0) }
            }
        }
    }

    /// A page of the accounts, by name.
    ///
    /// - Parameters:
    ///   - beginning: of the names, in whichever case; empty: all.
    ///   - after: the last name of the page before; empty: the first page.
    ///   - countMax: maximum number of accounts.
    /// - Throws: `CloudStoreError`.
    public func accounts(beginning: String, after: String, countMax: Int) throws -> [ControlAccount] {
        // Names are ASCII, so U+007F is behind each that begins so.
        let sql = """
            SELECT \(Self.accountColumns) FROM accounts WHERE name > ?1 AND name >= ?2 AND name < ?3
            ORDER BY name LIMIT ?4
            """
        return try read { connection in
            try connection.withStatement(sql) { statement in
                try statement.bind(after, beginning, beginning + "\u{7F}", countMax, at: 1)
                return try statement.rows { Self.account(in: $0) }
            }
        }
    }

    private static let accountColumns =
        "id, name, givenName, familyName, passwordHash, createdMilliseconds, key, email, isDeveloper, "
        + "EXISTS (SELECT 1 FROM disabledAccounts d WHERE d.account = accounts.id)"

    static func account(named name: String, _ connection: Connection) throws -> ControlAccount? {
        let sql = "SELECT \(accountColumns) FROM accounts WHERE name = ?"
        return try connection.withStatement(sql) { statement in
            try statement.bind(name, at: 1)
            return try statement.step() ? account(in: statement) : nil
        }
    }

    private static func account(in statement: borrowing Statement) -> ControlAccount {
        ControlAccount(
            id: statement.int64(at: 0), name: statement.text(at: 1), givenName: statement.optionalText(at: 2),
            familyName: statement.optionalText(at: 3), email: statement.optionalText(at: 7),
            passwordHash: statement.text(at: 4),
            createdMilliseconds: statement.int64(at: 5), isDeveloper: statement.int64(at: 8) != 0,
            isDisabled: statement.int64(at: 9) != 0, key: statement.bytes(at: 6))
    }
}
