import Crypto
import SQLite

/// Changes of an account: password, person, developer, disabled.
extension AccountTables {
    /// Replaces the password of an account and ends its sessions. A disabled account gets the password when it is
    /// enabled again.
    ///
    /// - Parameter passwordHash: Text of the password's hash (`PasswordHash`).
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    package func setPasswordHash(_ passwordHash: String, ofAccount name: String) throws {
        try file.write { connection in
            let account = try Self.existing(name, connection)
            let sql = "UPDATE disabledAccounts SET passwordHash = ? WHERE account = ?"
            try connection.run(sql) { try $0.bind(passwordHash, account.id, at: 1) }
            if connection.changesCount == 0 { try Self.setHash(passwordHash, of: account.id, connection) }
            try SessionTable.removeAll(ofAccount: account.id, connection)
        }
    }

    /// Changes the names and the email address of an account, and whether it is a developer. Nil keeps a
    /// value, an empty text removes it.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `ControlError.badName`, `ControlError.emailTaken`,
    ///   `ControlError.tooManyDevelopers`, `CloudStoreError`; then nothing was changed.
    @discardableResult
    package func changePerson(
        ofAccount name: String, givenName: String? = nil, familyName: String? = nil, email: String? = nil,
        isDeveloper: Bool? = nil
    ) throws -> ControlAccount {
        func value(_ text: String?) -> String? { text.flatMap { $0.isEmpty ? nil : $0 } }
        try ControlNames.checkPerson(value(givenName))
        try ControlNames.checkPerson(value(familyName))
        try ControlNames.checkEmail(value(email))
        return try file.write { connection in
            let account = try Self.existing(name, connection)
            try Self.checkIsFree(value(email), besides: account.id, connection)
            let sql = "UPDATE accounts SET givenName = ?, familyName = ?, email = ? WHERE id = ?"
            try connection.run(sql) { statement in
                try statement.bind(
                    givenName.map(value) ?? account.givenName, familyName.map(value) ?? account.familyName,
                    email.map(value) ?? account.email, account.id, at: 1)
            }
            if let isDeveloper { try Self.setDeveloper(isDeveloper, ofAccount: name, connection) }
            return try Self.existing(name, connection)
        }
    }

    /// Allows or forbids an account to use `development` where that is for developers only.
    ///
    /// - Throws: `ControlError.noSuchAccount`, `ControlError.tooManyDevelopers`, `CloudStoreError`.
    package func setDeveloper(_ isDeveloper: Bool, ofAccount name: String) throws {
        try file.write { try Self.setDeveloper(isDeveloper, ofAccount: name, $0) }
    }

    /// Disables an account and ends its sessions. Does nothing if it is disabled already.
    ///
    /// - Returns: True if it wasn't disabled before.
    /// - Throws: `ControlError.noSuchAccount`, `CryptoError`, `CloudStoreError`.
    @discardableResult
    package func disable(named name: String) throws -> Bool {
        // `accounts` gets a hash that no password fits, so that an earlier version of this program rejects it too.
        let shut = try PasswordHash.fittingNothing()
        return try file.write { connection in
            let account = try Self.existing(name, connection)
            let sql = "INSERT OR IGNORE INTO disabledAccounts (account, passwordHash) VALUES (?, ?)"
            try connection.run(sql) { try $0.bind(account.id, account.passwordHash, at: 1) }
            guard connection.changesCount == 1 else { return false }
            try Self.setHash(shut.text, of: account.id, connection)
            try SessionTable.removeAll(ofAccount: account.id, connection)
            return true
        }
    }

    /// Enables a disabled account, which can sign in again with its password. Does nothing if it isn't
    /// disabled.
    ///
    /// - Returns: True if it was disabled before.
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    @discardableResult
    package func enable(named name: String) throws -> Bool {
        try file.write { connection in
            let account = try Self.existing(name, connection)
            let sql = "DELETE FROM disabledAccounts WHERE account = ? RETURNING passwordHash"
            let hash = try connection.withStatement(sql) { statement -> String? in
                try statement.bind(account.id, at: 1)
                guard try statement.step() else { return nil }
                let hash = statement.text(at: 0)
                // SQLite deletes the row when the statement has finished.
                while try statement.step() {}
                return hash
            }
            guard let hash else { return false }
            try Self.setHash(hash, of: account.id, connection)
            return true
        }
    }

    // MARK: - In a transaction

    static func checkIsFree(_ email: String?, besides account: Int64?, _ connection: Connection) throws {
        guard let email else { return }
        try connection.withStatement("SELECT id FROM accounts WHERE email = ?") { statement in
            try statement.bind(email, at: 1)
            guard try statement.step(), statement.int64(at: 0) != account else { return }
            throw ControlError.emailTaken(email)
        }
    }

    static func setDeveloper(
        _ isDeveloper: Bool, ofAccount name: String, _ connection: Connection
    ) throws {
        try connection.run("UPDATE accounts SET isDeveloper = ? WHERE name = ?") {
            try $0.bind(isDeveloper, name, at: 1)
        }
        guard connection.changesCount == 1 else { throw ControlError.noSuchAccount(name: name) }
        let count = try ControlFormat.value(
            of: "SELECT count(*) FROM accounts WHERE isDeveloper = 1", connection)
        guard count <= developersMax else {
            throw ControlError.tooManyDevelopers(developersMax: developersMax)
        }
    }

    private static func setHash(_ hash: String, of account: Int64, _ connection: Connection) throws {
        try connection.run("UPDATE accounts SET passwordHash = ? WHERE id = ?") {
            try $0.bind(hash, account, at: 1)
        }
    }
}

extension ControlAccount {
    /// Returns true if the account is enabled and has the same password as `other`.
    func isSame(as other: ControlAccount) -> Bool {
        id == other.id && passwordHash == other.passwordHash && !isDisabled
    }
}
