internal import CloudKit
internal import Yap

extension CloudSyncMap {
    /// The state of the tables when the sync begins.
    struct StartState: Sendable {
        /// Zones that were never fetched. The server may not have them.
        var unknownZoneIDs: [CKRecordZone.ID]
        /// Whether the subscription was saved.
        var isSubscribed: Bool
        /// Whether a record is stashed with a type that the app knows now.
        var hasStash: Bool
    }

    func state(_ transaction: YapDatabaseReadTransaction, _ name: String) throws -> StartState {
        let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
        let database = try ext.databaseKey(nil)
        let unknown = try zoneIDs.filter {
            try ext.tables.tokens.token($0, database) == nil
                && ext.tables.tokens.fullFetch($0, database) == nil
        }
        let isSubscribed = try ext.tables.accounts.subscriptionID(database) == SyncRunner.subscriptionID
        return StartState(
            unknownZoneIDs: unknown, isSubscribed: isSubscribed, hasStash: try hasStash(ext))
    }

    /// Removes the rows, the pending changes and the token of a zone. Nothing of that is sent.
    func removeObjects(
        inZoneNamed zoneName: String, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        let database = try ext.databaseKey(nil)
        for id in try ext.tables.records.recordRows(inZoneNamed: zoneName, database) {
            guard let row = try ext.tables.records.record(id: id) else { continue }
            for name in try ext.tracker.forget(row, rule: .deletedRemotely) {
                try transaction.removeObject(forKey: name.key, inCollection: name.collection)
            }
        }
        for zoneID in zoneIDs where zoneID.zoneName == zoneName {
            try ext.tables.tokens.setToken(nil, zoneID, database)
            try ext.tables.tokens.setFullFetch(nil, zoneID, database)
            try ext.zones.setMoreComing(false, zoneID, database)
            try ext.tables.stash.clearStash(zoneID, database)
            try ext.tables.tokens.forgetUnreadFields(zoneID, database)
        }
    }
}
