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

    /// Notes that the transaction stores fetched rows. Rows to which they belong may be on a later page.
    func noteFetchedRows() throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.noteFetchedRows(ofExtension: tables.name)
    }

    /// Notes that stored rows were fetched earlier.
    func noteFetching() throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.noteFetching(ofExtension: tables.name)
    }

    /// Notes whether more pages of a zone's changes follow.
    func setMoreComing(_ isComing: Bool, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else { return }
        try transaction.setMoreRowsComing(
            isComing, inPart: Self.part(zoneID, database), ofExtension: tables.name)
    }

    /// Notes that no more pages of other users' zones follow at present, nor of zones that the app no longer syncs.
    /// Rules that wait for these zones go on waiting.
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

    /// Begins to fetch everything in a zone again. Records that aren't fetched until `finishFullFetch` don't exist on
    /// the server.
    func beginFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, _ reason: FullFetchReason
    ) throws {
        // The records that a restored server lost are known at the end of the full fetch. If a token expires before
        // that, they must not be taken for deleted by others.
        let isReset = try tables.tokens.fullFetch(zoneID, database) == .reset
        let reason = isReset && reason == .expired ? .reset : reason
        try tables.tokens.setToken(nil, zoneID, database)
        try tables.tokens.setFullFetch(reason, zoneID, database)
        try tables.records.markAllUnseen(zoneID, database)
        try tables.tokens.forgetUnreadFields(zoneID, database)
        switch reason {
        case .expired:
            // Records that still exist on the server are fetched again.
            try tables.stash.clearStash(zoneID, database)
        case .upgrade, .newFields:
            // Stashed records become rows before the first page.
            break
        case .reset:
            // The version of the app that knows their type sends the lost records again.
            try tables.stash.forgetTagsOfStash(zoneID, database)
            // A restored server may have lost the subscription too.
            try tables.accounts.setSubscriptionID(nil, database)
        }
    }

    /// Begins to fetch the records of a zone that have fields which the previous version didn't store. Nothing is sent
    /// meanwhile.
    func beginFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantUnreadFields(zoneID, database) else { return }
        try tables.tokens.setFullFetch(.newFields, zoneID, database)
    }

    /// Ends that fetch if no wanted record of the zone is left.
    func endFetchOfNewFields(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) throws {
        guard try tables.tokens.wantedRecords(zoneID, database, limit: 1).isEmpty else { return }
        try tables.tokens.setFullFetch(nil, zoneID, database)
    }

    /// Ends a full fetch, if one is under way.
    ///
    /// - Parameter absent: Called for each record with a change tag that wasn't fetched.
    func finishFullFetch(
        _ zoneID: CKRecordZone.ID, _ database: DatabaseKey,
        absent: (RecordRow, FullFetchReason) throws -> Void
    ) throws {
        guard let reason = try tables.tokens.fullFetch(zoneID, database), reason != .newFields else {
            return
        }
        for row in try tables.records.unseenRecords(zoneID, database) where row.changeTag != nil {
            try absent(row, reason)
        }
        try tables.tokens.setFullFetch(nil, zoneID, database)
    }

    /// Begins to fetch values of new fields. The server may have such values from other devices, which the previous
    /// version didn't store. They are merged with the rows before anything is sent.
    ///
    /// - Parameter addsOnly: Whether this version has all fields of the previous one.
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

    /// Returns the zones of `CloudSync` that are being fetched in full, or were never fetched. Zones of an earlier
    /// version of the app may be marked like that too, but aren't fetched any more.
    func zonesToFetchFirst(_ database: DatabaseKey) throws -> [CKRecordZone.ID] {
        // The zones of `CloudSync` are in the user's private database.
        guard database.identifier == nil else { return [] }
        let zoneIDs = cloudKit.runner.zoneHandler?.zoneIDs ?? []
        return try zoneIDs.filter { try !tables.tokens.isFetched($0, database) }
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (partOfNew, comparison)
        return { [self] in (partOfNew, comparison) = saved }
    }
}
