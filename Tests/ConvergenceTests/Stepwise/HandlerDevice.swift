import CloudKit
import Foundation
import Simulation
import SyncDevices
import System
import Yap
import YapCloudKit

/// A device whose app uses the extension in its own terms: a record handler, a merge block, a fetch loop and an error
/// block of its own, and what the seed drew.
final class HandlerDevice: SimulatedDevice {
    /// What a page of a fetch counts among the steps of a sync.
    private static let stepsPerPage = 3

    let index: Int
    let hasOthers: Bool
    var version: Int
    unowned let cloud: SimulatedCloud
    let kind: HandlerKind
    private let path: String
    private let container: CKContainer
    private var app: App?

    /// What lives as long as the device's process.
    final class App {
        let database: YapDatabase
        let connection: YapDatabaseConnection
        let scheduler: ManualScheduler
        let cloudKit: YapDatabaseCloudKit
        let errors: Lock<[CKError]>
        var hasZones = false
        var lastFetchWentWell = false
        var hasFetched = false

        init(
            _ database: YapDatabase, _ scheduler: ManualScheduler, _ cloudKit: YapDatabaseCloudKit,
            _ errors: Lock<[CKError]>
        ) {
            self.database = database
            self.scheduler = scheduler
            self.cloudKit = cloudKit
            self.errors = errors
            connection = database.newConnection()
        }
    }

    init(
        _ index: Int, path: String, cloud: SimulatedCloud, version: Int, kind: HandlerKind, hasOthers: Bool
    ) throws {
        self.index = index
        self.version = version
        self.kind = kind
        self.hasOthers = hasOthers
        self.path = path
        self.cloud = cloud
        container = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: SimulatedWire(cloud, device: index), execution: .inline,
                webAuthToken: SimulatedCloud.token, timers: ManualTimerSource(clock: cloud.clock)))
        app = try open()
    }

    var blocks: HandlerBlocks {
        HandlerBlocks(version: version, splits: kind.splits, mutant: cloud.sabotage?.kind)
    }
    var database: CKDatabase { container.privateCloudDatabase }

    /// The zones that are followed, with their databases' identifiers.
    var zones: [(zoneID: CKRecordZone.ID, identifier: String?)] {
        HandlerBlocks.zones(hasOthers: hasOthers)
    }

    func running() throws -> App {
        guard let app else { throw CannotRestart(device: index) }
        return app
    }

    // MARK: Processes

    private func open() throws -> App {
        let scheduler = ManualScheduler(clock: cloud.clock)
        var options = YapDatabaseOptions()
        options.random = SeededRandomSource(seed: cloud.random.next())
        try cloud.sabotage?.spoil(path, registeredName: HandlerPages.extensionName, isOpen: false)
        let database = try YapDatabase(
            path: path, options: options, configure: HandlerBlocks.register)
        let errors = Lock<[CKError]>([])
        let cloudKit = makeCloudKit(scheduler, errors, random: options.random)
        // For the zones, and for the first fetch.
        cloudKit.suspend(count: 2)
        try database.blocking.register(cloudKit, withName: HandlerPages.extensionName)
        try cloud.sabotage?.spoil(path, registeredName: HandlerPages.extensionName, isOpen: true)
        let app = App(database, scheduler, cloudKit, errors)
        try HandlerPages(blocks).welcome(zones, app.connection)
        return app
    }

    private func makeCloudKit(
        _ scheduler: ManualScheduler, _ errors: Lock<[CKError]>, random: any RandomSource
    ) -> YapDatabaseCloudKit {
        let (device, cloudDatabase, hasOthers) = (WeakDevice(device: self), database, hasOthers)
        let environment = SyncEnvironment(
            scheduler: scheduler, clock: cloud.clock, random: random,
            databaseBlock: { $0 == nil || hasOthers ? cloudDatabase : nil },
            errorBlock: { identifier, error in
                device.device?.note(error, identifier)
                errors.withLock { $0.append(error) }
            },
            logBlock: { entries in
                device.device?.noteMerges(entries)
                return true
            })
        let options = YapDatabaseCloudKit.Options(
            allowedCollections: blocks.syncedCollections(hasOthers: hasOthers), storage: kind.storage,
            failures: kind.failures, foldsQueuedChanges: kind.folds)
        return YapDatabaseCloudKit(
            recordHandler: blocks.recordHandler, mergeBlock: blocks.mergeBlock, versionTag: "\(version)",
            versionInfo: version, options: options, environment: environment)
    }

    func begin() throws {
        app = try open()
    }

    func end() throws {
        guard let ending = app else { return }
        app = nil
        try ending.database.blocking.close()
        cloud.bury(index)
        // What is left of the process finds that out, and lets go of its files.
        ending.scheduler.run(stepsMax: Self.stepsMax)
    }

    private func note(_ error: CKError, _ identifier: String?) {
        cloud.trace.note("device \(index) hears of \(error.code) in \(identifier ?? "its database")")
    }

    // MARK: Its rows

    func connection() throws -> YapDatabaseConnection { try running().connection }

    func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        try blocks.read(key, transaction)
    }

    func write(_ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try blocks.write(todo, key, transaction)
    }

    func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try blocks.remove(key, transaction)
    }

    /// One of a record's two rows goes in a commit of its own, before the other.
    func prepareToDelete(_ keys: [String]) throws {
        guard kind.splits else { return }
        let keys = keys.filter { blocks.collections($0).count > 1 && cloud.random.next(in: 0..<2) == 0 }
        guard !keys.isEmpty else { return }
        try connection().blocking.readWrite { transaction in
            for key in keys { try transaction.removeObject(forKey: key, inCollection: "days") }
        }
    }

    func todos() throws -> [String: Todo] {
        try connection().blocking.read { transaction in
            var todos: [String: Todo] = [:]
            for collection in ["todos", "days", "others", "notes"] {
                for key in try transaction.allKeys(inCollection: collection) {
                    todos[key] = try read(key, transaction)
                }
            }
            return todos
        }
    }

    // MARK: The sync

    func sync(stepsMax: Int) throws {
        let app = try running()
        cloud.trace.note("device \(index) syncs")
        var steps = stepsMax
        app.lastFetchWentWell = try fetchAll(app, &steps)
        if app.lastFetchWentWell { try resume(app) }
        app.scheduler.run(stepsMax: max(0, steps))
        if cloud.isDead(index) { try restart() }
    }

    /// Makes the zones, and fetches what changed in each.
    /// - Returns: Whether all of that went well.
    private func fetchAll(_ app: App, _ steps: inout Int) throws -> Bool {
        if !app.hasZones {
            for zone in zones {
                if makeZone(zone.zoneID) != nil { return false }
            }
            app.hasZones = true
            app.cloudKit.resume()
        }
        for zone in zones {
            while true {
                guard steps > 0 else { return false }
                steps -= Self.stepsPerPage
                guard let moreComing = try fetchPage(of: zone.zoneID, zone.identifier) else { return false }
                if !moreComing { break }
            }
        }
        return true
    }

    /// What stopped the uploads is dealt with.
    private func resume(_ app: App) throws {
        let errors = app.errors.withLock { errors in
            defer { errors = [] }
            return errors
        }
        if !app.hasFetched {
            app.hasFetched = true
            app.cloudKit.resume()
        }
        cloud.check(
            kind.failures == .automatic || app.cloudKit.suspendCount == errors.count,
            "device \(index) is suspended \(app.cloudKit.suspendCount) times after \(errors.count) errors")
        while app.cloudKit.suspendCount > 0 { app.cloudKit.resume() }
    }

    private func makeZone(_ zoneID: CKRecordZone.ID) -> CKError? {
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)])
        let result = Lock<CKError?>(CKError(.serverResponseLost, "no answer"))
        operation.modifyRecordZonesResultBlock = { outcome in
            result.withLock { result in
                switch outcome {
                case .success: result = nil
                case .failure(let error): result = error as? CKError
                }
            }
        }
        database.add(operation)
        return result.withLock { $0 }
    }

    func syncUntilIdle() throws {
        try sync(stepsMax: Self.stepsMax)
        for _ in 0..<Self.pausesMax {
            let app = try running()
            if app.cloudKit.suspendCount > 0 || !app.lastFetchWentWell {
                // An app waits as long as a busy server asks: before that the framework sends nothing.
                cloud.clock.advance(bySeconds: SimulatedCloud.retryAfterSeconds)
                try sync(stepsMax: Self.stepsMax)
            } else if let wake = app.scheduler.nextWakeMilliseconds {
                cloud.clock.advance(bySeconds: Double(max(0, wake - cloud.clock.nowMilliseconds())) / 1000)
                app.scheduler.run(stepsMax: Self.stepsMax)
            } else {
                return
            }
        }
    }

    func status() throws -> CloudSyncStatus {
        let app = try running()
        return app.cloudKit.suspendCount > 0
            ? CloudSyncStatus(pause: .suspended) : app.cloudKit.status
    }
}
