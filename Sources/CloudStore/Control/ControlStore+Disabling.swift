import Crypto
import SQLite
import System

/// Accounts with which nobody can sign in for now. What checks an account's password is kept aside, so that an earlier
/// version of this program refuses it too.
extension ControlStore {
    /// Keeps an account from signing in, and ends its sessions. Does nothing to one that is disabled already.
    ///
    /// - Returns: whether it was not disabled before.
    /// - Throws: `ControlError.noSuchAccount`, `CryptoError`, `CloudStoreError`.
    @discardableResult
    public func disableAccount(named name: String) throws -> Bool {
        let shut = try PasswordHash.fittingNothing()
        return try write { connection in
            let account = try Self.existingAccount(name, connection)
            let sql = "INSERT OR IGNORE INTO disabledAccounts (account, passwordHash) VALUES (?, ?)"
            try connection.run(sql) { try $0.bind(account.id, account.passwordHash, at: 1) }
            guard connection.changesCount == 1 else { return false }
            try Self.setHash(shut.text, of: account.id, connection)
            try Self.deleteSessions(of: account.id, connection)
            return true
        }
    }

    /// Lets an account sign in again with its password. Does nothing to one that isn't disabled.
    ///
    /// - Returns: whether it was disabled before.
    /// - Throws: `ControlError.noSuchAccount`, `CloudStoreError`.
    @discardableResult
    public func enableAccount(named name: String) throws -> Bool {
        try write { connection in
            let account = try Self.existingAccount(name, connection)
            let sql = "DELETE FROM disabledAccounts WHERE account = ? RETURNING passwordHash"
            let hash = try connection.withStatement(sql) { statement -> String? in
                try statement.bind(account.id, at: 1)
                guard try statement.step() else { return nil }
                let hash = statement.text(at: 0)
                // The row goes when the statement has come to its end.
                while try statement.step() {}
                return hash
            }
            guard let hash else { return false }
            try Self.setHash(hash, of: account.id, connection)
            return true
        }
    }

    /// Puts another hash aside for an account that is disabled. False: it isn't.
    static func keepAside(_ hash: String, of account: Int64, _ connection: Connection) throws -> Bool {
        let sql = "UPDATE disabledAccounts SET passwordHash = ? WHERE account = ?"
        try connection.run(sql) { try $0.bind(hash, account, at: 1) }
        return connection.changesCount == 1
    }

    static func setHash(_ hash: String, of account: Int64, _ connection: Connection) throws {
        try connection.run("UPDATE accounts SET passwordHash = ? WHERE id = ?") {
            try $0.bind(hash, account, at: 1)
        }
    }

    static func deleteSessions(of account: Int64, _ connection: Connection) throws {
        try connection.run("DELETE FROM sessions WHERE account = ?") { try $0.bind(account, at: 1) }
    }

    static func existingAccount(_ name: String, _ connection: Connection) throws -> ControlAccount {
        guard let account = try account(named: name, connection) else {
            throw ControlError.noSuchAccount(name: name)
        }
        return account
    }
}

extension ControlAccount {
    /// Whether it is as it was when it was read, as far as signing in goes.
    func isSame(as other: ControlAccount) -> Bool {
        id == other.id && passwordHash == other.passwordHash && !isDisabled
    }
}
