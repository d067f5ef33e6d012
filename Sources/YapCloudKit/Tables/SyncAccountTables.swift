internal import SQLite

/// Owns `account`, `user` and `subscription`: the users that have changes and records in the file, and their databases
/// in the cloud.
///
/// A new file has one account, which becomes the first known user's. Each other user gets a further account.
final class SyncAccountTables: SyncTable {
    let statements: SyncStatements
    /// The current account; nil until it was read in this transaction.
    private var current: Int64?

    init(_ statements: SyncStatements) { self.statements = statements }

    /// Returns the current account: the app's calls use its databases.
    func currentAccount() throws -> Int64 {
        if let current { return current }
        let account =
            try first("SELECT id FROM \(table("account")) WHERE is_current = 1") { $0.int64(at: 0) }
            ?? DatabaseKey.firstAccount
        current = account
        return account
    }

    /// Returns all accounts, oldest first.
    func accounts() throws -> [Int64] {
        try rows("SELECT id FROM \(table("account")) ORDER BY id") { $0.int64(at: 0) }
    }

    /// Makes an account the current one.
    func makeCurrent(_ account: Int64) throws {
        current = nil
        try run("UPDATE \(table("account")) SET is_current = (id = ?1)", [.integer(account)])
    }

    /// Returns the account of the user with this record name in a container, or nil if the user was never here.
    func account(of userRecordName: String, in identifier: String?) throws -> Int64? {
        let keys = try rows(
            "SELECT database FROM \(table("user")) WHERE user_record_name = ?1 ORDER BY database",
            [.text(userRecordName)]
        ) { DatabaseKey(column: $0.text(at: 0)) }
        return keys.filter { $0.identifier == identifier }.min()?.account
    }

    /// Returns the user's account. A new user gets the current account if it has no user yet, else a new one.
    func makeAccount(of userRecordName: String, in identifier: String?) throws -> Int64 {
        if let known = try account(of: userRecordName, in: identifier) { return known }
        let current = DatabaseKey(identifier, account: try currentAccount())
        if try self.userRecordName(current) == nil {
            try setUserRecordName(userRecordName, current)
            return current.account
        }
        try run("INSERT INTO \(table("account")) (is_current) VALUES (0)")
        let account = sqlite.lastInsertRowID
        try setUserRecordName(userRecordName, DatabaseKey(identifier, account: account))
        return account
    }

    /// Record name of the user of a database in the cloud, or nil until it is known. A user has a name in each
    /// container.
    func userRecordName(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT user_record_name FROM \(table("user")) WHERE database = ?1", [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Stores the record name of a database's user. It never changes.
    func setUserRecordName(_ userRecordName: String, _ database: DatabaseKey) throws {
        try run(
            "INSERT OR IGNORE INTO \(table("user")) (database, user_record_name) VALUES (?1, ?2)",
            [.text(database.column), .text(userRecordName)])
    }

    /// Identifier of the subscription that was saved in a database of the cloud.
    func subscriptionID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT subscription_id FROM \(table("subscription")) WHERE database = ?1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Stores the identifier of the saved subscription; nil deletes it.
    func setSubscriptionID(_ subscriptionID: String?, _ database: DatabaseKey) throws {
        guard let subscriptionID else {
            return try run(
                "DELETE FROM \(table("subscription")) WHERE database = ?1", [.text(database.column)])
        }
        try run(
            "INSERT OR REPLACE INTO \(table("subscription")) (database, subscription_id) VALUES (?1, ?2)",
            [.text(database.column), .text(subscriptionID)])
    }

    func makeRestorePoint() -> () -> Void {
        let current = current
        return { [self] in self.current = current }
    }
}
