package import CloudKit
package import CloudWire
package import System
internal import Yap

/// What the sync takes from outside.
package struct SyncEnvironment: Sendable {
    package var scheduler: any SyncScheduler
    package var clock: any TimeSource
    package var random: any RandomSource
    package var databaseBlock: YapDatabaseCloudKit.DatabaseIdentifierBlock
    package var errorBlock: YapDatabaseCloudKit.OperationErrorBlock
    /// Hears of the decisions of merges, after their transaction was committed. False when nobody listened:
    /// then they are kept.
    package var logBlock: @Sendable ([CloudMergeLogEntry]) -> Bool
    /// Who syncs when several processes have the database open; without one nobody else has.
    package var processLock: SyncProcessLock?
    /// The files that are copied to be sent.
    package var assetFiles: any AssetFiles = DiskAssetFiles()
    /// Whether the zones that are fetched here are compared with the server's.
    package var verifiesZones = true
    /// What happens to the objects of a zone that was deleted and made again.
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
    /// With the last page of a server of ours: what the zone comes to.
    package var checksum: ZoneChecksum?
    /// With the last page of a server of ours: the version of its schema, an opaque text.
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
    /// Gives a row the values that wait in the queue, where it lacks them.
    let giveBack:
        @Sendable (
            YapDatabaseReadWriteTransaction, _ collection: String, _ key: String, _ waiting: [String: Field]
        ) throws -> Void
    /// Brings the server's version of one record in, as a conflict shows it.
    let applyRecord:
        @Sendable (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction, DatabaseKey, CKRecord)
            throws -> Void
    /// Returns the collections with fields that the version before didn't have, or nil if the change is a larger one.
    let collectionsWithNewFields:
        @Sendable (_ previousVersionTag: String, _ formerVersionTags: [String]) -> Set<String>?
    /// Brings in records that were fetched for fields which the version before left out.
    let applyWanted:
        @Sendable (
            YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction, DatabaseKey,
            _ wanted: [CKRecord.ID], _ records: [CKRecord]
        ) throws -> Void
    /// Decides what is done with a file of a fetched record.
    let fileHandling: FileHandlingRule
    /// Brings the files of a fetched record into the folder, before the record is applied.
    let takeFiles: @Sendable (CKRecord, FileFolder) throws -> Void
    /// Writes fields into a row.
    let storeFields:
        @Sendable (
            _ fields: [String: Field], YapDatabaseReadWriteTransaction, _ collection: String, _ key: String
        ) throws -> Void
}
