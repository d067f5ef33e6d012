public import CloudKit
import Dispatch
package import System
public import Yap

/// Syncs the collections of a database with zones of the cloud, on all devices of a user.
///
/// ```swift
/// let sync = try await CloudSync(
///     database, container: .default(), models: [.model(Todo.self, collection: "todos")], zone: "todos")
/// for await status in sync.status { show(status) }
/// ```
/// It creates the zones, subscribes to their changes, fetches what other devices changed, and then uploads the changes
/// of this device. If two devices changed the same record, they are merged field by field: the remote value wins unless
/// the model has another rule. If one device deleted a record and another one edited it, the edit wins, because a
/// deletion can be repeated and an edit can't. `mergeLog` reports the lost values of each decision.
public final class CloudSync: Sendable {
    /// The role of a process in the sync. Of all processes that have the database open and sync, one does at a time: it
    /// holds a lock on a file beside the database, and the next one takes over when it ends.
    public enum Role: Sendable {
        /// Sends and fetches when it holds the lock.
        case syncs
        /// Records changes in the queue, and leaves sending to other processes.
        case records
    }

    /// The extension that records and uploads changes.
    public let cloudKit: YapDatabaseCloudKit
    /// The zone of the models without a zone of their own.
    public let zoneID: CKRecordZone.ID

    let container: CKContainer
    let map: CloudSyncMap
    let connection: YapDatabaseConnection
    let registeredName: String
    private let scheduler: any SyncScheduler
    private let mergeLogStreams: MergeLogStreams
    /// True while the app is in the background and the uploads are suspended for that.
    let isInBackground = Lock(false)

    /// Begins to sync.
    ///
    /// - Parameters:
    ///   - database: The database with the objects. It must outlive the sync.
    ///   - container: The container with the private database of the user.
    ///   - models: The types and their collections.
    ///   - zone: Name of the zone. It is created unless it exists.
    ///   - name: Name under which the extension is registered. It is a part of the tables' names.
    ///   - role: The role of this process, if several have the database open.
    ///   - foldsQueuedChanges: Whether pending commits may be uploaded as one, with the last value of each field.
    ///   - verifiesZones: Whether the records are compared with the server's after each complete fetch. A zone that
    ///     differs is fetched again, and reported in `errors`. Apple's servers send nothing to compare with.
    ///   - objectsOfDeletedZones: What happens to the objects of a zone that was deleted in the cloud.
    /// - Throws: `YapDatabaseError`: `missingRegistration` if the database doesn't know a model's collection,
    ///   `typeMismatch` if the collection has another type, and the errors of `database.register(_:withName:)`.
    ///   `YapDatabaseCloudKitError.fieldMap` if two models have one collection, or one record type in one zone.
    public convenience init(
        _ database: YapDatabase, container: CKContainer, models: [CloudSyncModel], zone: String,
        name: String = "cloudKit", role: Role = .syncs, foldsQueuedChanges: Bool = false,
        verifiesZones: Bool = true, objectsOfDeletedZones: DeletedZonesObjects = .keep
    ) async throws {
        self.init(
            database, container: container, models: models, zone: zone, name: name,
            scheduler: ThreadScheduler(), clock: SystemTimeSource(), random: SystemRandomSource(),
            processLock: SyncProcessLock(acquires: role == .syncs), folds: foldsQueuedChanges,
            verifies: verifiesZones,
            objectsOfDeletedZones: objectsOfDeletedZones)
        // Nothing is uploaded until it is known which zones must be fetched first.
        cloudKit.suspend()
        defer { cloudKit.resume() }
        try map.check(in: database)
        try await database.register(cloudKit, withName: name)
        let state = try await connection.read { [map] in try map.state($0, name) }
        if state.hasStash {
            try await connection.readWrite { [map] in
                try map.deliverStash($0, try $0.ext(name, as: YapDatabaseCloudKit.self))
            }
        }
        cloudKit.runner.post(.listen(DatabaseKey(nil), isSaved: state.isSubscribed))
        follow(state.unknownZoneIDs)
        removeUnusedFiles()
    }

    /// Removes unused files in the background. Files that can't be removed are tried again at the next start.
    private func removeUnusedFiles() {
        DispatchQueue.global(qos: .background).async { [weak self] in try? self?.files.removeUnusedInline() }
    }

    /// Begins to sync with the caller's scheduler, without waiting for anything.
    ///
    /// - Parameters:
    ///   - listens: Whether it listens to other devices' changes.
    ///   - assetFiles: Writes the files that are sent and fetched.
    ///   - whenRegistered: Called between the registration and the first fetch. A simulation runs work there that
    ///     another thread may do in an app.
    package convenience init(
        _ database: YapDatabase, container: CKContainer, models: [CloudSyncModel], zone: String,
        name: String = "cloudKit", scheduler: any SyncScheduler, clock: any TimeSource,
        random: any RandomSource, listens: Bool = false, foldsQueuedChanges: Bool = false,
        verifiesZones: Bool = true, objectsOfDeletedZones: DeletedZonesObjects = .keep,
        assetFiles: any AssetFiles = DiskAssetFiles(), whenRegistered: () throws -> Void = {}
    ) throws {
        self.init(
            database, container: container, models: models, zone: zone, name: name, scheduler: scheduler,
            clock: clock, random: random, processLock: nil, folds: foldsQueuedChanges,
            verifies: verifiesZones,
            objectsOfDeletedZones: objectsOfDeletedZones, assetFiles: assetFiles)
        try map.check(in: database)
        try database.blocking.register(cloudKit, withName: name)
        try whenRegistered()
        let state = try connection.blocking.read { try map.state($0, name) }
        if state.hasStash {
            try connection.blocking.readWrite {
                try map.deliverStash($0, try $0.ext(name, as: YapDatabaseCloudKit.self))
            }
        }
        if listens { cloudKit.runner.post(.listen(DatabaseKey(nil), isSaved: state.isSubscribed)) }
        follow(state.unknownZoneIDs)
    }

    private init(
        _ yap: YapDatabase, container: CKContainer, models: [CloudSyncModel], zone: String, name: String,
        scheduler: any SyncScheduler, clock: any TimeSource, random: any RandomSource,
        processLock: SyncProcessLock?,
        folds: Bool, verifies: Bool, objectsOfDeletedZones: DeletedZonesObjects,
        assetFiles: any AssetFiles = DiskAssetFiles()
    ) {
        let zoneID = CKRecordZone.ID(zoneName: zone)
        let map = CloudSyncMap(models: models, zoneID: zoneID)
        let streams = MergeLogStreams()
        let database = container.privateCloudDatabase
        var environment = SyncEnvironment(
            scheduler: scheduler, clock: clock, random: random, databaseBlock: { $0 == nil ? database : nil },
            errorBlock: { _, error in streams.yield(error) }, logBlock: { streams.yield($0) },
            processLock: processLock)
        environment.verifiesZones = verifies
        environment.objectsOfDeletedZones = objectsOfDeletedZones
        environment.assetFiles = assetFiles
        cloudKit = YapDatabaseCloudKit(
            recordHandler: map.recordHandler, mergeBlock: map.mergeBlock, versionTag: map.versionTag,
            versionInfo: map.versionTag,
            options: .init(
                allowedCollections: Set(models.map(\.collection)), storage: .values, failures: .automatic,
                foldsQueuedChanges: folds),
            environment: environment, keepsDeletedFields: true, zoneHandler: map.zoneHandler)
        self.zoneID = zoneID
        self.map = map
        self.container = container
        connection = yap.newConnection()
        registeredName = name
        self.scheduler = scheduler
        mergeLogStreams = streams
    }

    /// Follows all zones. A zone that was never fetched is created first, unless it exists.
    private func follow(_ unknownZoneIDs: [CKRecordZone.ID]) {
        for zoneID in map.zoneIDs {
            cloudKit.runner.post(
                .follow(DatabaseKey(nil), zoneID, mayBeMissing: unknownZoneIDs.contains(zoneID)))
        }
    }

    // MARK: Watching

    /// The sync status now, and each time it changes. A change of `lastResponseDate` alone is no new element.
    public var status: AsyncStream<CloudSyncStatus> { cloudKit.runner.statusStream() }

    /// The sync status at this moment. Its `lastResponseDate` is always the newest.
    public var currentStatus: CloudSyncStatus { cloudKit.status }

    /// The decisions of merges, including up to 10,000 decisions made while no listener existed: the values that were
    /// lost, combined or superseded, the values that were kept, and the rule.
    public var mergeLog: AsyncStream<CloudMergeLogEntry> {
        defer { cloudKit.runner.needStoredLog() }
        return mergeLogStreams.entries()
    }

    /// The errors of the sync from now on, including those that it handles itself.
    public var errors: AsyncStream<CKError> { mergeLogStreams.errors() }

    /// Calls `observer` with the decisions of each merge, after its transaction was committed.
    package func observeMergeLog(_ observer: @escaping @Sendable ([CloudMergeLogEntry]) -> Void) {
        mergeLogStreams.observe(observer)
        cloudKit.runner.needStoredLog()
    }

    /// Number of times that a zone was found to differ from the server's, on this device since the file was created. It
    /// should be 0: otherwise another program changed the file, or the sync has a bug.
    /// - Throws: `YapDatabaseError`, for example `closed`.
    public var differencesFound: Int {
        get async throws {
            try await cloudKit.runner.session.query { try $0.tables.checksums.differencesCount() }
        }
    }

    // MARK: Steering

    /// Fetches and uploads, and returns when no work is running: everything is delivered, or waits for a time or for
    /// the app.
    ///
    /// It ends pauses for the network, and sends changes again that the server rejected as invalid, because its schema
    /// may have changed.
    /// - Returns: The status then.
    @discardableResult
    public func syncNow() async -> CloudSyncStatus {
        await withCheckedContinuation { continuation in
            cloudKit.runner.post(.networkPauseEnds)
            cloudKit.runner.post(.retryInvalid)
            fetch()
            cloudKit.runner.whenQuiet { continuation.resume(returning: $0) }
        }
    }

    /// Fetches and uploads on the caller's thread until nothing is left to do. It needs a `ManualScheduler` and a cloud
    /// that responds inline.
    @discardableResult
    package func syncNowInline() -> CloudSyncStatus {
        guard let scheduler = scheduler as? ManualScheduler else {
            preconditionFailure("syncNowInline needs a ManualScheduler")
        }
        cloudKit.runner.post(.retryInvalid)
        fetch()
        scheduler.runUntilQuiet()
        return currentStatus
    }

    /// Handles a notification that the app received, and fetches if it is about a synced zone.
    ///
    /// Only an app that receives notifications itself needs it.
    /// - Returns: Whether the notification is about a synced zone.
    @discardableResult
    public func handle(_ notification: CKNotification) -> Bool { cloudKit.handle(notification) }

    /// Fetches changes, for example when the user requests it. Other devices' changes are fetched without it.
    public func fetch() {
        for zoneID in map.zoneIDs { cloudKit.runner.post(.remoteChange(DatabaseKey(nil), zoneID)) }
    }

    /// Suspends uploads until `resume()` was called as often. Changes are still recorded.
    public func suspend() { cloudKit.suspend() }

    /// Resumes uploads.
    public func resume() { cloudKit.resume() }

    /// Tries everything again that needed attention. A zone that the user deleted is created again, and the objects of
    /// this device are uploaded to it.
    public func retry() { cloudKit.retry() }
}
