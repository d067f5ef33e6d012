package import CloudKit
package import CloudWire
package import System
internal import Yap

/// The dependencies of the sync.
package struct SyncEnvironment: Sendable {
    package var scheduler: any SyncScheduler
    package var clock: any TimeSource
    package var random: any RandomSource
    package var databaseBlock: YapDatabaseCloudKit.DatabaseIdentifierBlock
    package var errorBlock: YapDatabaseCloudKit.OperationErrorBlock
    /// Takes the decisions of merges, after their transaction was committed. Returns false if no listener exists; then
    /// they stay stored.
    package var logBlock: @Sendable ([CloudMergeLogEntry]) -> Bool
    /// The lock between processes that have the database open; nil if there is only one process.
    package var processLock: SyncProcessLock?
    /// Copies files that are sent.
    package var assetFiles: any AssetFiles = DiskAssetFiles()
    /// Whether fetched zones are compared with the server's.
    package var verifiesZones = true
    /// What happens to the objects of a zone that was deleted and created again.
    package var objectsOfDeletedZones = CloudSync.DeletedZonesObjects.keep

    package init(
        scheduler: any SyncScheduler, clock: any TimeSource, random: any RandomSource,
        databaseBlock: @escaping YapDatabaseCloudKit.DatabaseIdentifierBlock,
        errorBlock: @escaping YapDatabaseCloudKit.OperationErrorBlock,
        logBlock: @escaping @Sendable ([CloudMergeLogEntry]) -> Bool = { _ in true },
        processLock: SyncProcessLock? = nil
    ) {
        self.scheduler = scheduler
        self.clock = clock
        self.random = random
        self.databaseBlock = databaseBlock
        self.errorBlock = errorBlock
        self.logBlock = logBlock
        self.processLock = processLock
    }
}

/// One page of a zone's changes, as the cloud sent it.
package struct SyncPage: Sendable {
    package var zoneID: CKRecordZone.ID
    package var changed: [CKRecord] = []
    package var deleted: [CKRecord.ID] = []
    package var token: CKServerChangeToken?
    package var moreComing = false
    /// Checksum of the zone, on the last page of our servers.
    package var checksum: ZoneChecksum?
    /// Version of the server's schema, an opaque text, on the last page of our servers.
    package var schemaVersion: String?

    package init(zoneID: CKRecordZone.ID) {
        self.zoneID = zoneID
    }
}

/// How fetched changes become rows. Without one the app fetches by itself.
package struct SyncZoneHandler: Sendable {
    /// The zones that it fetches.
    let zoneIDs: [CKRecordZone.ID]
    /// Applies a page, with its token, in the given transaction.
    let applyPage:
        @Sendable (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction, DatabaseKey, SyncPage)
            throws -> Void
    /// Stores pending values of the queue in a row that lacks them.
    let storePending:
        @Sendable (
            YapDatabaseReadWriteTransaction, _ collection: String, _ key: String, _ waiting: [String: Field]
        ) throws -> Void
    /// Applies the server's version of one record that a conflict returned.
    let applyRecord:
        @Sendable (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction, DatabaseKey, CKRecord)
            throws -> Void
    /// Returns the collections with fields that the previous version didn't have, or nil if the versions differ in
    /// more.
    let collectionsWithNewFields:
        @Sendable (_ previousVersionTag: String, _ formerVersionTags: [String]) -> Set<String>?
    /// Applies records that were fetched because of fields which the previous version didn't store.
    let applyWanted:
        @Sendable (
            YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction, DatabaseKey,
            _ wanted: [CKRecord.ID], _ records: [CKRecord]
        ) throws -> Void
    /// Decides how a file of a fetched record is handled.
    let fileHandling: FileHandlingRule
    /// Moves the files of a fetched record into the folder, before the record is applied.
    let takeFiles: @Sendable (CKRecord, FileFolder) throws -> Void
    /// Writes fields to a row.
    let storeFields:
        @Sendable (
            _ fields: [String: Field], YapDatabaseReadWriteTransaction, _ collection: String, _ key: String
        ) throws -> Void
}
