public import CloudKit
internal import CloudWire
internal import Yap

/// How far zones are fetched, for apps that fetch by themselves.
extension YapDatabaseCloudKitTransaction {

    /// Where the fetch of a zone's changes goes on; nil is from the beginning.
    public func token(
        forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?
    ) throws -> CKServerChangeToken? {
        let database = try databaseKey(databaseIdentifier)
        cloudKit.writes.noteFetch(of: zoneID, in: database)
        return try tables.tokens.token(zoneID, database).flatMap { CKServerChangeToken(storedText: $0) }
    }

    /// Stores where the fetch goes on. Call it in the transaction that applies the page which came with the
    /// token; and with nil before everything is fetched again: such a fetch reports no deletions.
    ///
    /// - Parameters:
    ///   - token: The change token to store, or nil to forget it.
    ///   - zoneID: ID of the zone.
    ///   - databaseIdentifier: Identifier of the CloudKit database, or nil for the default one.
    ///   - moreComing: Whether the page is not the last one, as the fetch says. Until the last one, rules of
    ///     relationships that count all sources or destinations wait. Default: with a token it is the last one; without
    ///     a token nothing is known, and rules that wait go on waiting. Without a token, false says that nothing more
    ///     comes, because the zone is gone or no longer fetched.
    public func setToken(
        _ token: CKServerChangeToken?, forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?,
        moreComing: Bool? = nil
    ) throws {
        try writing { _ in
            let database = try databaseKey(databaseIdentifier)
            if token != nil { try zones.noteFetchedRows() }
            // Without a token everything comes again: that alone is no last page.
            if let isComing = moreComing ?? (token == nil ? nil : false) {
                try zones.setMoreComing(isComing, zoneID, database)
            }
            // The page may have shown what others made of records of which changes wait, and the app may pass that
            // over: what waits is another write then.
            try tables.queue.renameWritesOfKnownRecords(in: database)
            try tables.tokens.setToken(token?.storedText, zoneID, database)
        }
    }

}
