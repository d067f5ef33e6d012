import CloudKit
import Foundation
import SQLiteTestSupport
import System
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
        var parts: CloudSyncRows.Parts = [.notes, .lists]
        if world.plan.scenario.hasFiles { parts.insert(.albums) }
        if world.plan.scenario.hasSamples { parts.insert(.samples) }
        let rows = CloudSyncRows(
            version: version, parts,
            secondZone: world.plan.scenario.hasSecondZone ? SimulatedService.secondZoneName : nil)
        self.rows = rows
        database = try YapDatabase(path: device.path, options: device.databaseOptions(random)) {
            rows.register(in: &$0)
        }
        var cloud = CloudConnection(
            transport: SimulatedWire(world.network, device, process), execution: .inline,
            account: device.account, timers: process, random: random)
        cloud.assetCache = AssetCache(folder: URL(filePath: device.cachePath))
        let container = CKContainer(identifier: SimulatedService.container, connection: cloud)
        do {
            cloudSync = try CloudSync(
                database, container: container, models: rows.models, zone: SimulatedService.zoneName,
                scheduler: process, clock: device.clock, random: random, listens: device.kind.listens,
                foldsQueuedChanges: device.kind.folds,
                objectsOfDeletedZones: device.kind.removesWithZone ? .remove : .keep,
                assetFiles: DeviceFiles(device),
                whenRegistered: { if world.plan.scenario.runsAhead { process.mayRunAhead() } })
        } catch {
            try? database.blocking.close()
            throw error
        }
        connection = database.newConnection()
        try world.sabotage?.spoil(device.path, registeredName: Self.extensionName, isOpen: true)
    }

    func begin() throws {
        let device = WeakSingleThreaded(value: device)
        cloudSync.observeMergeLog { device.value?.noteMerges($0) }
        if self.device.world.usesAccounts { try adopt(user: self.device.account.user) }
        if self.device.world.plan.scenario.hasFiles { removeUnusedFilesSoon() }
    }

    // MARK: Its rows

    func has(_ key: String) -> Bool {
        !key.hasPrefix(Keys.other)
            && (version > 1 || !key.hasPrefix(Keys.note) && !key.hasPrefix(Keys.album))
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
    var isBusy: Bool { device.adoptedUser != device.account.user || fetchesUnderWay > 0 }

    // MARK: Its files

    private var fetchesUnderWay = 0
    /// By key: files that neither the device nor the object's record has.
    private var filesNowhere: [String: Set<String>] = [:]

    func addFile(_ bytes: [UInt8]) throws -> String { try cloudSync.files.addInline(Data(bytes)).ledgerText }

    func bytes(ofFile text: String) throws -> [UInt8]? {
        guard let file = CloudFile(ledgerText: text), let url = cloudSync.files.url(of: file) else {
            return nil
        }
        return Array(try Data(contentsOf: url))
    }

    func isNowhere(file text: String, of key: String) -> Bool { filesNowhere[key]?.contains(text) == true }

    func fetchFiles() throws {
        let missing = try files().filter { cloudSync.files.url(of: $0.file) == nil }
        filesNowhere = [:]
        for (key, file) in missing { fetch(file, of: key) }
    }

    private func fetch(_ file: CloudFile, of key: String) {
        fetchesUnderWay += 1
        let app = WeakSingleThreaded(value: self)
        cloudSync.files.fetchInline(file, ofObjectForKey: key, inCollection: "albums") { result in
            app.value?.fetched(file, of: key, result)
        }
    }

    private func fetched(_ file: CloudFile, of key: String, _ result: Result<URL, any Error>) {
        fetchesUnderWay -= 1
        switch result {
        case .success: device.world.note(device, "has fetched the \(file) of \(key)")
        case .failure(let error):
            device.world.note(device, "has not fetched the \(file) of \(key)", held: "\(error)")
            let code = (error as? CKError)?.code
            if code == .assetNotAvailable || code == .unknownItem {
                filesNowhere[key, default: []].insert(file.ledgerText)
            }
        }
    }

    func removeUnusedFiles() throws {
        let used = try files().filter { cloudSync.files.url(of: $0.file) != nil }
        try cloudSync.files.removeUnusedInline()
        device.makeMarksOlder()
        for (key, file) in used where cloudSync.files.url(of: file) == nil {
            device.world.lostFile("device \(device.index) removed the \(file) of \(key)")
        }
    }

    /// The files of all objects.
    private func files() throws -> [(key: String, file: CloudFile)] {
        guard version > 1 else { return [] }
        return try connection.blocking.read { transaction in
            try transaction.allKeys(inCollection: "albums").sorted().flatMap { key in
                (try rows.album(key, transaction)?.files ?? []).map { (key, $0) }
            }
        }
    }

    /// As a sync does that begins, on another thread.
    private func removeUnusedFilesSoon() {
        process.later(Self.removalMilliseconds) { [weak self] in
            guard let self, !process.isDead else { return }
            device.world.attempt(orExcusedBy: device.isDiskFaulty) { try self.removeUnusedFiles() }
        }
    }

    private static let removalMilliseconds: Int64 = 7
}
