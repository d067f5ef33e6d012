internal import CloudKit
internal import Yap

/// What the database is told of rows that come from the server, for extensions with rules about missing rows.
extension YapDatabaseCloudKitTransaction {
    /// The transaction stores what was fetched: the rows to which these belong may be on a later page.
    func noteFetchedRows() throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.noteFetchedRows(ofExtension: tables.name)
    }

    /// Stored rows were fetched earlier.
    func noteFetching() throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.noteFetching(ofExtension: tables.name)
    }

    /// Whether more pages of a zone's changes are to come.
    func setMoreComing(_ isComing: Bool, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.setMoreRowsComing(
            isComing, inPart: Self.part(zoneID, database), ofExtension: tables.name)
    }

    /// Nothing more comes at present of another user's zones, and of those that the app no longer syncs. Rules that
    /// wait for these go on waiting.
    func setFetchedParts() throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        let account = try tables.accounts.currentAccount()
        let known = cloudKit.runner.zoneHandler.map { handler in
            Set(handler.zoneIDs.map { Self.part($0, DatabaseKey(nil, account: account)) })
        }
        try transaction.setFetchedParts(ofExtension: tables.name) { part in
            known?.contains(part) ?? part.hasPrefix("\(account) ")
        }
    }

    private static func part(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) -> String {
        let texts = [database.column, zoneID.ownerName].map { "\($0.utf8.count) \($0)" }
        return "\(database.account) \(texts.joined(separator: " ")) \(zoneID.zoneName)"
    }
}
