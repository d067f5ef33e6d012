internal import CloudKit
internal import CloudWire
internal import Yap

/// The fetch of zones: full fetches, comparisons, and notes for extensions with rules about missing rows.
final class ZoneFetch {
    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    private unowned let transaction: YapDatabaseReadTransaction
    /// Part of the zone's checksum of a record that is attached as new.
    var partOfNew: ZoneChecksum?
    /// Checksums of a zone after the last page of its changes: the server's and this device's.
    var comparison: ZoneComparison?

    init(
        _ cloudKit: YapDatabaseCloudKit, _ tables: CloudKitTables, _ transaction: YapDatabaseReadTransaction
    ) {
        self.cloudKit = cloudKit
        self.tables = tables
        self.transaction = transaction
    }

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

    /// Begins to fetch everything in a zone again. What is not seen until `finishFullFetch` is no longer
    /// there.
    func beginFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, _ refusal: TokenRefusal
    ) throws {
        // What a server that was put back has lost is known when all of it was seen: a token that runs out before
        // must not make it something that others deleted.
        let isReset = try tables.tokens.fullFetch(zoneID, database) == .reset
        let refusal = isReset && refusal == .expired ? .reset : refusal
        try tables.tokens.setToken(nil, zoneID, database)
        try tables.tokens.setFullFetch(refusal, zoneID, database)
        try tables.records.markAllUnseen(zoneID, database)
        try tables.tokens.forgetUnreadFields(zoneID, database)
        switch refusal {
        case .expired:
            // What still is on the server comes again.
            try tables.stash.clearStash(zoneID, database)
        case .upgrade, .newFields:
            // What was kept aside becomes rows before the first page, which it needn't wait for.
            break
        case .reset:
            // What the server lost is sent again by the version that knows it.
            try tables.stash.forgetTagsOfStash(zoneID, database)
            // A server that was put back may have lost the subscription too.
            try tables.accounts.setSubscriptionID(nil, database)
        }
    }

    /// Begins to fetch the records of a zone that have fields which the version before left out. Nothing is sent
    /// meanwhile.
    func beginFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantUnreadFields(zoneID, database) else { return }
        try tables.tokens.setFullFetch(.newFields, zoneID, database)
    }

    /// Ends that fetch if no record of the zone is wanted any more.
    func endFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantedRecords(zoneID, database, limit: 1).isEmpty else { return }
        try tables.tokens.setFullFetch(nil, zoneID, database)
    }

    /// Ends a full fetch, if one is under way.
    ///
    /// - Parameter absent: Called for each record that the server should have and doesn't show.
    func finishFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey,
        absent: (RecordRow, TokenRefusal) throws -> Void
    ) throws {
        guard let refusal = try tables.tokens.fullFetch(zoneID, database), refusal != .newFields else {
            return
        }
        for row in try tables.records.unseenRecords(zoneID, database) where row.changeTag != nil {
            try absent(row, refusal)
        }
        try tables.tokens.setFullFetch(nil, zoneID, database)
    }

    /// The server may have values of new fields, from other devices, that the version before left out. They are
    /// fetched, and merged with those of the rows, before anything is sent.
    ///
    /// - Parameter addsOnly: Whether this version has all fields of the one before.
    func fetchLeftOutFields(addsOnly: Bool) throws {
        try tables.records.forgetRowHashes()
        for (zoneID, database) in try tables.knownZones() {
            if try addsOnly && tables.tokens.knowsUnreadFields(zoneID, database) {
                try beginFetchOfNewFields(zoneID, database)
            } else {
                let isReset = try tables.tokens.fullFetch(zoneID, database) == .reset
                try beginFullFetch(zoneID, database, isReset ? .reset : .upgrade)
            }
        }
    }

    /// The zones of `CloudSync` that are being fetched in full, or were never fetched from. Other zones may be marked
    /// so too: those of an earlier version of the app, which nothing fetches.
    func zonesToFetchFirst(_ database: DatabaseKey) throws -> [CKRecordZone.ID] {
        // `CloudSync` has its zones in the user's private database.
        guard database.identifier == nil else { return [] }
        let zoneIDs = cloudKit.runner.zoneHandler?.zoneIDs ?? []
        return try zoneIDs.filter { try !tables.tokens.isFetched($0, database) }
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (partOfNew, comparison)
        return { [self] in (partOfNew, comparison) = saved }
    }
}
