public import CloudKit
import Dispatch
package import System
public import Yap

/// Keeps the collections of a database and a zone of the cloud the same, on every device of a user.
///
/// ```swift
/// let sync = try await CloudSync(database, container: .default(),
///     models: [.model(Todo.self, collection: "todos")], zone: "todos")
/// for await status in sync.status { show(status) }
/// ```
/// It makes the zones, subscribes to their changes, fetches what other devices changed, and only then uploads what
/// is changed here: what the documents' sample does with three `suspend()`s and a `resume()` after each of these. It
/// merges where both changed something: field by field, the remote value wins unless the model says otherwise. Of a
/// deletion and an edit that a device knows both of, the edit wins, because what is lost by that can be deleted again,
/// and what is lost by the other can't be typed again. `mergeLog` says of each such decision what was lost.
public final class CloudSync: Sendable {
    /// What a process does of the sync. Of all that have the database open and sync, one does at a time: it holds a
    /// lock on a file beside the database, and the next takes over when it ends.
    public enum Role: Sendable {
        /// Sends and fetches, when its turn comes.
        case syncs
        /// Records changes in the queue, and leaves it to other processes to send them.
        case records
    }

    /// The extension that does the recording and the uploading.
    public let cloudKit: YapDatabaseCloudKit
    /// The zone of the models that name none.
    public let zoneID: CKRecordZone.ID

    let container: CKContainer
    let map: CloudSyncMap
    let connection: YapDatabaseConnection
    let registeredName: String
    private let scheduler: any SyncScheduler
    private let mergeLogStreams: MergeLogStreams
    /// Whether the app is in the background, and the uploads are suspended for it.
    let isInBackground = Lock(false)

    /// Begins to sync.
    ///
    /// - Parameters:
    ///   - database: Where the objects are. It must outlive the sync.
    ///   - container: Which container's private database they go to.
    ///   - models: The types and their collections.
    ///   - zone: The zone's name; it is made if it isn't there.
    ///   - name: The name under which the extension is registered; it is part of the tables' names.
    ///   - role: What this process does of the sync, when several have the database open.
    ///   - foldsQueuedChanges: Whether commits that wait may go up as one, with the last value of each field.
    ///   - verifiesZones: Whether what is here is compared with the server's after each complete fetch. A zone that
    ///     differs is fetched anew, and `errors` tells. Apple's servers say nothing to compare with.
    ///   - objectsOfDeletedZones: What happens to the objects here when their zone was deleted in the cloud.
    /// - Throws: `YapDatabaseError`: `missingRegistration` when the database doesn't know a model's collection,
    ///   `typeMismatch` when it has another type there, and what `database.register(_:withName:)` throws.
    ///   `YapDatabaseCloudKitError.fieldMap` when two models have one collection, or one record type in one zone.
    public convenience init(
        _ database: YapDatabase, container: CKContainer, models: [CloudSyncModel], zone: String,
        name: String = "cloudKit", role: Role = .syncs, foldsQueuedChanges: Bool = false,
        verifiesZones: Bool = true, objectsOfDeletedZones: DeletedZonesObjects = .keep
    ) async throws {
        self.init(
            database, container: container, models: models, zone: zone, name: name,
            scheduler: ThreadScheduler(), clock: SystemTimeSource(), random: SystemRandomSource(),
            processLock: SyncProcessLock(acquires: role == .syncs), folds: foldsQueuedChanges, verifies: verifiesZones,
            objectsOfDeletedZones: objectsOfDeletedZones)
        // Nothing is uploaded before it is known what has to be fetched first.
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

    /// Removes unused files in the background. What fails is tried again at the next start.
    private func removeUnusedFiles() {
        DispatchQueue.global(qos: .background).async { [weak self] in try? self?.files.removeUnusedInline() }
    }

    /// Begins to sync with a scheduler of the caller's, without waiting for anything; it hears of other devices'
    /// changes when `listens`.
    ///
    /// - Parameters:
    ///   - assetFiles: Writes the files that are sent and fetched.
    ///   - whenRegistered: Called between the registration and the first request for a fetch. What the scheduler runs
    ///     in it, another thread may do there in an app.
    package convenience init(
        _ database: YapDatabase, container: CKContainer, models: [CloudSyncModel], zone: String,
        name: String = "cloudKit", scheduler: any SyncScheduler, clock: any TimeSource,
        random: any RandomSource, listens: Bool = false, foldsQueuedChanges: Bool = false,
        verifiesZones: Bool = true, objectsOfDeletedZones: DeletedZonesObjects = .keep,
        assetFiles: any AssetFiles = DiskAssetFiles(), whenRegistered: () throws -> Void = {}
    ) throws {
        self.init(
            database, container: container, models: models, zone: zone, name: name, scheduler: scheduler,
            clock: clock, random: random, processLock: nil, folds: foldsQueuedChanges, verifies: verifiesZones,
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
        scheduler: any SyncScheduler, clock: any TimeSource, random: any RandomSource, processLock: SyncProcessLock?,
        folds: Bool, verifies: Bool, objectsOfDeletedZones: DeletedZonesObjects,
        assetFiles: any AssetFiles = DiskAssetFiles()
    ) {
        let zoneID = CKRecordZone.ID(zoneName: zone)
        let map = CloudSyncMap(models: models, zoneID: zoneID)
        let streams = MergeLogStreams()
        let database = container.privateCloudDatabase
        var environment = SyncEnvironment(
            scheduler: scheduler, clock: clock, random: random, databaseBlock: { $0 == nil ? database : nil },
            errorBlock: { _, error in streams.yield(error) }, logBlock: { streams.yield($0) }, processLock: processLock)
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

    /// Follows all zones; one that was never fetched from is made first, if it isn't there.
    private func follow(_ unknownZoneIDs: [CKRecordZone.ID]) {
        for zoneID in map.zoneIDs {
            cloudKit.runner.post(
                .follow(DatabaseKey(nil), zoneID, mayBeMissing: unknownZoneIDs.contains(zoneID)))
        }
    }

    // MARK: Watching

    /// How far the sync is: now, and each time it changes. A change of `lastResponseDate` alone is no new element.
    public var status: AsyncStream<CloudSyncStatus> { cloudKit.runner.statusStream() }

    /// How far the sync is at this moment. Its `lastResponseDate` is always the newest.
    public var currentStatus: CloudSyncStatus { cloudKit.status }

    /// What merges decide, and what they decided while nobody listened (the newest 10,000): which values were lost,
    /// combined or superseded, which stand, and by which rule.
    public var mergeLog: AsyncStream<CloudMergeLogEntry> {
        defer { cloudKit.runner.needStoredLog() }
        return mergeLogStreams.entries()
    }

    /// The errors that the sync meets from now on, also those it deals with by itself.
    public var errors: AsyncStream<CKError> { mergeLogStreams.errors() }

    /// Calls `observer` with what each merge decided, after its transaction was committed.
    package func observeMergeLog(_ observer: @escaping @Sendable ([CloudMergeLogEntry]) -> Void) {
        mergeLogStreams.observe(observer)
        cloudKit.runner.needStoredLog()
    }

    /// How often a zone was found to differ from the server's, on this device and since it was made. It is to be 0: a
    /// higher number means that something changed the file behind the sync, or that the sync has a fault.
    /// - Throws: `YapDatabaseError`, among them `closed`.
    public var differencesFound: Int {
        get async throws { try await cloudKit.runner.session.query { try $0.tables.differencesCount() } }
    }

    // MARK: Steering

    /// Fetches and uploads, and returns when nothing is under way any more: everything is delivered, or waits
    /// for a time or for the app.
    ///
    /// What waits for the network is tried again at once, and so are changes that the server refused as invalid: its
    /// schema may have changed.
    @discardableResult
    public func syncNow() async -> CloudSyncStatus {
        await withCheckedContinuation { continuation in
            cloudKit.runner.post(.networkPauseEnds)
            cloudKit.runner.post(.retryInvalid)
            fetch()
            cloudKit.runner.whenQuiet { continuation.resume(returning: $0) }
        }
    }

    /// Fetches and uploads on this thread until nothing is left to do now. Only with a `ManualScheduler` and
    /// a cloud that answers inline.
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

    /// Takes a notification that the app got, and fetches when it is about what is synced here.
    ///
    /// Other devices' changes are heard of without it; needed only where the app gets the notifications.
    /// - Returns: Whether it is.
    @discardableResult
    public func handle(_ notification: CKNotification) -> Bool { cloudKit.handle(notification) }

    /// Fetches what changed: for when the user asks. Other devices' changes are heard of without it.
    public func fetch() {
        for zoneID in map.zoneIDs { cloudKit.runner.post(.remoteChange(DatabaseKey(nil), zoneID)) }
    }

    /// Stops uploads until `resume()` was called as often. What is changed meanwhile is recorded.
    public func suspend() { cloudKit.suspend() }

    /// Lets uploads go on.
    public func resume() { cloudKit.resume() }

    /// Tries everything again that needed attention. A zone that the user deleted is made again, and what is
    /// here is uploaded to it.
    public func retry() { cloudKit.retry() }
}
