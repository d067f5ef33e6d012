public import CloudKit
internal import CloudWire
internal import Yap

/// Change tokens of zones, for apps that fetch by themselves.
extension YapDatabaseCloudKitTransaction {

    /// Returns the token from which the fetch of a zone's changes continues, or nil to fetch from the beginning. Notes
    /// that a fetch begins.
    public func token(
        forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?
    ) throws -> CKServerChangeToken? {
        let database = try databaseKey(databaseIdentifier)
        cloudKit.writes.noteFetch(of: zoneID, in: database)
        return try tables.tokens.token(zoneID, database).flatMap { CKServerChangeToken(storedText: $0) }
    }

    /// Stores the token from which the next fetch continues. Call it in the transaction that applies the token's page.
    /// Call it with nil before everything is fetched again. A fetch without a token reports no deletions.
    ///
    /// - Parameters:
    ///   - token: The change token to store, or nil to delete it.
    ///   - zoneID: ID of the zone.
    ///   - databaseIdentifier: Identifier of the CloudKit database, or nil for the default one.
    ///   - moreComing: Whether more pages follow, as the fetch reports. Rules of relationships that count all sources
    ///     or destinations wait for the last page. Nil, the default, means false with a token; without a token, waiting
    ///     rules go on waiting. Pass false without a token if the zone was deleted or is no longer fetched.
    public func setToken(
        _ token: CKServerChangeToken?, forZone zoneID: CKRecordZone.ID, databaseIdentifier: String?,
        moreComing: Bool? = nil
    ) throws {
        try writing { _ in
            let database = try databaseKey(databaseIdentifier)
            if token != nil { try zones.noteFetchedRows() }
            // A deleted token alone doesn't mean that the last page was fetched.
            if let isComing = moreComing ?? (token == nil ? nil : false) {
                try zones.setMoreComing(isComing, zoneID, database)
            }
            // The page may have newer versions of records with pending changes, and the app may ignore them. So the
            // pending changes become other writes.
            try tables.queue.renameWritesOfKnownRecords(in: database)
            try tables.tokens.setToken(token?.storedText, zoneID, database)
        }
    }

}
