internal import SQLite

/// Owns `account`, `user` and `subscription`: the users whose changes and records are in the file, and what is known of
/// their databases in the cloud.
///
/// A file belongs to one account at first, which gets the name of the first user that is known. Every other user has a
/// further account.
struct AccountTables: SyncTable {
    let statements: SyncStatements

    /// The account whose databases the app's calls mean.
    func currentAccount() throws -> Int64 {
        try first("SELECT id FROM \(table("account")) WHERE is_current = 1") { $0.int64(at: 0) }
            ?? DatabaseKey.firstAccount
    }

    /// All accounts, in the order in which they came.
    func accounts() throws -> [Int64] {
        try rows("SELECT id FROM \(table("account")) ORDER BY id") { $0.int64(at: 0) }
    }

    /// From now on the app's calls mean this account.
    func makeCurrent(_ account: Int64) throws {
        try run("UPDATE \(table("account")) SET is_current = (id = ?1)", [.integer(account)])
    }

    /// The account of the user who has a name in a database's container; nil when the user was never here.
    func account(of userRecordName: String, in identifier: String?) throws -> Int64? {
        let keys = try rows(
            "SELECT database FROM \(table("user")) WHERE user_record_name = ?1 ORDER BY database",
            [.text(userRecordName)]
        ) { DatabaseKey(column: $0.text(at: 0)) }
        return keys.filter { $0.identifier == identifier }.min()?.account
    }

    /// The user's account, made when there is none: the current one when nobody knows yet whose it is.
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

    /// Whose changes go to a database of the cloud; nil before that is known. A user has a name in each container.
    func userRecordName(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT user_record_name FROM \(table("user")) WHERE database = ?1", [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Keeps whose they are, for good.
    func setUserRecordName(_ userRecordName: String, _ database: DatabaseKey) throws {
        try run(
            "INSERT OR IGNORE INTO \(table("user")) (database, user_record_name) VALUES (?1, ?2)",
            [.text(database.column), .text(userRecordName)])
    }

    /// The subscription that was saved in a database of the cloud.
    func subscriptionID(_ database: DatabaseKey) throws -> String? {
        try first(
            "SELECT subscription_id FROM \(table("subscription")) WHERE database = ?1",
            [.text(database.column)]
        ) { $0.text(at: 0) }
    }

    /// Keeps which subscription was saved; nil forgets it.
    func setSubscriptionID(_ subscriptionID: String?, _ database: DatabaseKey) throws {
        guard let subscriptionID else {
            return try run(
                "DELETE FROM \(table("subscription")) WHERE database = ?1", [.text(database.column)])
        }
        try run(
            "INSERT OR REPLACE INTO \(table("subscription")) (database, subscription_id) VALUES (?1, ?2)",
            [.text(database.column), .text(subscriptionID)])
    }
}
