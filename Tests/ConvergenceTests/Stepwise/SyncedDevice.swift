import CloudKit
import Foundation
import Simulation
import System
import Yap
import YapCloudKit

/// A device with `CloudSync`: its file, and the app's sync on it.
final class SyncedDevice: SimulatedDevice {
    let index: Int
    let hasOthers = false
    var version: Int
    let path: String
    /// Whether the app has notes, in the versions that have them.
    private let hasNotes: Bool
    unowned let cloud: SimulatedCloud
    private let container: CKContainer
    private var app: App?

    /// What lives as long as the device's process.
    private struct App {
        let database: YapDatabase
        let connection: YapDatabaseConnection
        let scheduler: ManualScheduler
        let sync: CloudSync
    }

    init(_ index: Int, path: String, cloud: SimulatedCloud, version: Int, hasNotes: Bool) throws {
        self.index = index
        self.version = version
        self.hasNotes = hasNotes
        self.path = path
        self.cloud = cloud
        container = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: SimulatedWire(cloud, device: index), execution: .inline,
                webAuthToken: SimulatedCloud.token, timers: ManualTimerSource(clock: cloud.clock)))
        app = try open()
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

    // MARK: Its rows

    func connection() throws -> YapDatabaseConnection { try running().connection }

    private var rows: CloudSyncRows { CloudSyncRows(version: version, hasNotes ? .notes : []) }

    func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo? {
        try rows.read(key, transaction)
    }

    func write(_ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try rows.write(todo, key, transaction)
    }

    func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try rows.remove(key, transaction)
    }

    func todos() throws -> [String: Todo] {
        try running().connection.blocking.read { try rows.todos($0) }
    }

    // MARK: The sync

    func sync(stepsMax: Int) throws {
        let app = try running()
        cloud.trace.note("device \(index) syncs")
        app.sync.fetch()
        app.scheduler.run(stepsMax: stepsMax)
        if cloud.isDead(index) { try restart() }
    }

    func syncUntilIdle() throws {
        try sync(stepsMax: Self.stepsMax)
        for _ in 0..<Self.pausesMax {
            let app = try running()
            guard let wake = app.scheduler.nextWakeMilliseconds else { return }
            cloud.clock.advance(bySeconds: Double(max(0, wake - cloud.clock.nowMilliseconds())) / 1000)
            app.scheduler.run(stepsMax: Self.stepsMax)
        }
    }

    // MARK: What the checker asks

    func status() throws -> CloudSyncStatus {
        try running().sync.currentStatus
    }

    private func running() throws -> App {
        guard let app else { throw CannotRestart(device: index) }
        return app
    }

    private func open() throws -> App {
        let scheduler = ManualScheduler(clock: cloud.clock)
        var options = YapDatabaseOptions()
        options.random = SeededRandomSource(seed: cloud.random.next())
        try cloud.sabotage?.spoil(path, registeredName: "cloudKit", isOpen: false)
        let rows = rows
        let database = try YapDatabase(path: path, options: options) { rows.register(in: &$0) }
        let sync = try CloudSync(
            database, container: container, models: rows.models, zone: "todos", scheduler: scheduler,
            clock: cloud.clock, random: options.random)
        try cloud.sabotage?.spoil(path, registeredName: "cloudKit", isOpen: true)
        let device = WeakDevice(device: self)
        sync.observeMergeLog { device.device?.noteMerges($0) }
        return App(
            database: database, connection: database.newConnection(), scheduler: scheduler, sync: sync)
    }
}
