import CloudKit
import Foundation
import SQLiteTestSupport
import Seams
import Yap
import YapCloudKit

/// An app with `CloudSync`.
final class CloudSyncApp: DeviceApp {
    private static let extensionName = "cloudKit"
    /// How long after a sign-in that could not be written it is tried again.
    private static let retryMilliseconds: Int64 = 2_000

    let process: Process
    let database: YapDatabase
    let connection: YapDatabaseConnection
    private unowned let device: Device
    private let cloudSync: CloudSync
    private let version: Int
    private let rows: CloudSyncRows

    init(_ device: Device, _ process: Process) throws {
        self.device = device
        self.process = process
        version = device.version
        let world = device.world
        let random = world.draws.source("device \(device.index) random \(process.owner)")
        try world.sabotage?.spoil(device.path, registeredName: Self.extensionName, isOpen: false)
        let rows = CloudSyncRows(version: version, [.notes, .lists])
        self.rows = rows
        database = try YapDatabase(path: device.path, options: device.databaseOptions(random)) {
            rows.register(in: &$0)
        }
        let container = CKContainer(
            identifier: SimulatedService.container,
            connection: CloudConnection(
                transport: SimulatedWire(world.network, device, process), execution: .inline,
                account: device.account, timers: process, random: random))
        do {
            cloudSync = try CloudSync(
                database, container: container, models: rows.models, zone: SimulatedService.zoneName,
                scheduler: process, clock: device.clock, random: random, listens: device.kind.listens,
                foldsQueuedChanges: device.kind.folds,
                whenRegistered: { if world.plan.scenario.runsAhead { process.mayRunAhead() } })
        } catch {
            try? database.close()
            throw error
        }
        connection = database.newConnection()
        try world.sabotage?.spoil(device.path, registeredName: Self.extensionName, isOpen: true)
    }

    func begin() throws {
        let device = WeakSingleThreaded(value: device)
        cloudSync.observeMergeLog { device.value?.noteMerges($0) }
        if self.device.world.usesAccounts { try adopt(user: self.device.account.user) }
    }

    // MARK: Its rows

    func has(_ key: String) -> Bool {
        !key.hasPrefix(Keys.other) && (version > 1 || !key.hasPrefix(Keys.note))
    }

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
        try connection.blocking.read { try rows.todos($0) }
    }

    // MARK: The sync

    func sync() { cloudSync.fetch() }
    func background() { cloudSync.didEnterBackground() }
    func foreground() { cloudSync.willEnterForeground() }

    func adopt(user: Int) throws {
        let userRecordID = CKRecord.ID(recordName: SimulatedService.userRecordName(user))
        do {
            let isAnother = try cloudSync.useAccountInline(of: userRecordID, objectsOfOtherAccount: .remove)
            device.adoptedUser = user
            if isAnother { device.world.ledger.deviceWasEmptied(device.index) }
        } catch {
            guard device.isDiskFaulty else { throw error }
            process.later(Self.retryMilliseconds) { [weak self] in
                guard let self, !process.isDead, device.account.user == user else { return }
                device.world.attempt { try self.adopt(user: user) }
            }
        }
    }

    func tellMerges() { cloudSync.handOutMergeLogInline() }
    var status: CloudSyncStatus { cloudSync.currentStatus }
    func differencesFound() throws -> Int { try cloudSync.differencesFoundInline() }
    func pendingChangeSetsCount() throws -> Int {
        try connection.blocking.read {
            try $0.ext(Self.extensionName, as: YapDatabaseCloudKit.self).numberOfPendingChangeSets()
        }
    }
    var isBusy: Bool { device.adoptedUser != device.account.user }
}
