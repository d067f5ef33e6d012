import CloudKit
import Foundation
import SQLiteTestSupport
import SyncDevices
import System
import Yap
import YapCloudKit

/// An app that uses the extension in its own terms: a record handler, a merge block, a fetch loop and an error block of
/// its own, and what the seed drew.
final class HandlerApp: DeviceApp {
    /// How long an app waits before it tries again: as long as a busy service asks, before that the framework sends
    /// nothing.
    private static let retryMilliseconds: Int64 = 3_000

    let process: Process
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let blocks: HandlerBlocks
    unowned let device: Device
    let version: Int
    private let kind: HandlerKind
    private let cloudKit: YapDatabaseCloudKit
    let cloudDatabase: CKDatabase
    private let errors: Lock<[CKError]>
    var hasZones = false
    private var hasFetched = false
    private var hasResumedForZones = false
    private var isSyncing = false
    private var wantsSync = false
    private var lastFetchWentWell = true
    private var isRetryPlanned = false

    init(_ device: Device, _ kind: HandlerKind, _ process: Process) throws {
        self.device = device
        self.kind = kind
        self.process = process
        version = device.version
        let world = device.world
        let random = world.draws.source("device \(device.index) random \(process.owner)")
        blocks = HandlerBlocks(version: version, splits: kind.splits, mutant: world.sabotage?.kind)
        cloudDatabase =
            CKContainer(
                identifier: SimulatedService.container,
                connection: CloudConnection(
                    transport: SimulatedWire(world.network, device, process), execution: .inline,
                    account: device.account, timers: process, random: random)
            ).privateCloudDatabase
        try world.sabotage?.spoil(device.path, registeredName: HandlerPages.extensionName, isOpen: false)
        database = try Self.open(device, random)
        let errors = Lock<[CKError]>([])
        self.errors = errors
        cloudKit = Self.extension(device, kind, process, blocks, cloudDatabase, errors, random)
        connection = database.newConnection()
        // For the zones, and for the first fetch.
        cloudKit.suspend(count: 2)
        do {
            try database.blocking.register(cloudKit, withName: HandlerPages.extensionName)
        } catch {
            try? database.blocking.close()
            throw error
        }
        try world.sabotage?.spoil(device.path, registeredName: HandlerPages.extensionName, isOpen: true)
    }

    private static func open(_ device: Device, _ random: any RandomSource) throws -> YapDatabase {
        try YapDatabase(
            path: device.path, options: device.databaseOptions(random), configure: HandlerBlocks.register)
    }

    private static func `extension`(
        _ device: Device, _ kind: HandlerKind, _ process: Process, _ blocks: HandlerBlocks,
        _ cloudDatabase: CKDatabase, _ errors: Lock<[CKError]>, _ random: any RandomSource
    ) -> YapDatabaseCloudKit {
        let (reference, hasOthers) = (WeakSingleThreaded(value: device), device.hasOthers)
        let environment = SyncEnvironment(
            scheduler: process, clock: device.clock, random: random,
            databaseBlock: { $0 == nil || hasOthers ? cloudDatabase : nil },
            errorBlock: { identifier, error in
                errors.withLock { $0.append(error) }
                reference.value?.hear(error, identifier)
            },
            logBlock: { entries in
                reference.value?.noteMerges(entries)
                return true
            })
        let options = YapDatabaseCloudKit.Options(
            allowedCollections: blocks.syncedCollections(hasOthers: hasOthers),
            storage: kind.storesValues ? .values : .keysOnly,
            failures: kind.isAutomatic ? .automatic : .app, foldsQueuedChanges: device.kind.folds)
        return YapDatabaseCloudKit(
            recordHandler: blocks.recordHandler, mergeBlock: blocks.mergeBlock,
            versionTag: "\(device.version)", versionInfo: device.version, options: options,
            environment: environment)
    }

    var pages: HandlerPages { HandlerPages(blocks) }

    func begin() throws {
        try pages.welcome(zones, connection)
        sync()
    }

    /// The zones that are followed, with their databases' identifiers.
    var zones: [(zoneID: CKRecordZone.ID, identifier: String?)] {
        HandlerBlocks.zones(hasOthers: device.hasOthers)
    }

    // MARK: Its rows

    func has(_ key: String) -> Bool {
        if key.hasPrefix(Keys.other) { return device.hasOthers }
        return version > 1 || !key.hasPrefix(Keys.note)
    }

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
        guard kind.splits, !device.mayFailSoon else { return }
        let draws = device.world.draws.named(
            "device \(device.index) at \(device.world.queue.nowMilliseconds)")
        let keys = keys.filter { blocks.collections($0).count > 1 && draws.number(in: 0..<2, $0) == 0 }
        guard !keys.isEmpty else { return }
        try connection.blocking.readWrite { transaction in
            for key in keys { try transaction.removeObject(forKey: key, inCollection: "days") }
        }
    }

    func todos() throws -> [String: Todo] {
        try connection.blocking.read { transaction in
            var todos: [String: Todo] = [:]
            for collection in ["todos", "days", "others", "notes"] {
                for key in try transaction.allKeys(inCollection: collection) where has(key) {
                    todos[key] = try read(key, transaction)
                }
            }
            return todos
        }
    }

    // MARK: The sync

    /// Makes the zones, fetches what changed in each, and lets the uploads go on. One round at a time.
    func sync() {
        guard !process.isDead else { return }
        guard !isSyncing else {
            wantsSync = true
            return
        }
        (isSyncing, wantsSync) = (true, false)
        makeZones(zones.map(\.zoneID)[...])
    }

    private func makeZones(_ left: ArraySlice<CKRecordZone.ID>) {
        guard !hasZones, let zoneID = left.first else {
            if !hasResumedForZones { cloudKit.resume() }
            (hasZones, hasResumedForZones) = (true, true)
            return fetch(zones[...])
        }
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneID: zoneID)])
        let app = WeakSingleThreaded(value: self)
        operation.modifyRecordZonesResultBlock = { outcome in
            switch outcome {
            case .success: app.value?.makeZones(left.dropFirst())
            case .failure: app.value?.ended(isGood: false)
            }
        }
        cloudDatabase.add(operation)
    }

    private func fetch(_ left: ArraySlice<(zoneID: CKRecordZone.ID, identifier: String?)>) {
        guard let zone = left.first else { return ended(isGood: true) }
        fetchPage(of: zone.zoneID, zone.identifier) { [weak self] moreComing in
            switch moreComing {
            case nil: self?.ended(isGood: false)
            case true?: self?.fetch(left)
            case false?: self?.fetch(left.dropFirst())
            }
        }
    }

    private func ended(isGood: Bool) {
        guard !process.isDead else { return }
        isSyncing = false
        lastFetchWentWell = isGood
        if isGood {
            device.world.attempt(orExcusedBy: device.isDiskFaulty) { try resume() }
        } else {
            retryLater()
        }
        if wantsSync { sync() }
    }

    /// What stopped the uploads is dealt with.
    private func resume() throws {
        let errors = errors.withLock { errors in
            defer { errors = [] }
            return errors
        }
        if !hasFetched {
            hasFetched = true
            cloudKit.resume()
        }
        // The disk's errors suspend nothing.
        guard !kind.isAutomatic, !device.hasHadDiskFaults else {
            while cloudKit.suspendCount > 0 { cloudKit.resume() }
            return
        }
        // The sync suspends itself first and reports the error then: another thread may come between.
        let mayComeBetween = device.world.plan.scenario.interruptionsPerMille > 0
        let suspendCount = cloudKit.suspendCount
        if mayComeBetween ? suspendCount < errors.count : suspendCount != errors.count {
            device.world.violated(
                "device \(device.index) is suspended \(suspendCount) times after \(errors.count) errors")
        }
        for _ in errors { cloudKit.resume() }
    }

    /// Hears of an error: an app that deals with failures by itself fetches, and then lets the uploads go on.
    func heard() {
        if !kind.isAutomatic { retryLater() }
    }

    func retryLater() {
        guard !isRetryPlanned else { return }
        isRetryPlanned = true
        process.later(Self.retryMilliseconds) { [weak self] in
            self?.isRetryPlanned = false
            self?.sync()
        }
    }

    func tellMerges() { cloudKit.handOutMergeLogInline() }

    var status: CloudSyncStatus {
        cloudKit.suspendCount > 0 ? CloudSyncStatus(pause: .suspended) : cloudKit.status
    }

    func pendingChangeSetsCount() throws -> Int {
        try connection.blocking.read {
            try $0.ext(HandlerPages.extensionName, as: YapDatabaseCloudKit.self).numberOfPendingChangeSets()
        }
    }

    var isBusy: Bool { isSyncing || isRetryPlanned || !lastFetchWentWell }
}

extension Device {
    /// Hears of an error of the app's uploads.
    fileprivate func hear(_ error: CKError, _ identifier: String?) {
        world.note(self, "hears of \(error.code) in \(identifier ?? "its database")")
        (app as? HandlerApp)?.heard()
    }
}
