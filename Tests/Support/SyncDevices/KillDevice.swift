import CloudKit
import CloudWire
import Foundation
import HTTPClient
import SQLite
import SQLiteTestSupport
import System
import Yap
import YapCloudKit

/// A device whose process may end at any of its failpoints, and go on in another process on the same file.
///
/// Everything happens on the caller's thread, and the sync's pauses pass at once: two lives on the same file with the
/// same requests pass the same failpoints.
package final class KillDevice {
    /// The ways of use, and of storing the queue.
    package enum Use: String, CaseIterable, Sendable {
        /// `CloudSync`, which stores values.
        case cloudSync
        /// A record handler with the queue's keys, and an app that deals with failures.
        case handlerKeysOnly
        /// The same with the queue's values.
        case handlerValues
    }

    /// What happens to an item.
    package enum Edit: Sendable {
        case set(count: Int, text: String?)
        case note(String, text: String?)
        case delete
    }

    /// Rounds of the sync until it must have come to an end.
    package static let roundsMax = 40

    private let failpoints: Failpoints
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let clock = ManualTimeSource()
    private let scheduler: ManualScheduler
    private let client = HTTPClient()
    private let version: Int
    private let vfs: FaultVFS?
    private var sync: CloudSync?
    private var app: HandledApp?

    /// Opens the device's file and registers the extension.
    ///
    /// - Parameters:
    ///   - token: Whose device it is.
    ///   - version: The version of the app.
    package init(
        path: String, port: Int, token: String, use: Use, version: Int, failpoints: Failpoints? = nil
    ) throws {
        let points = failpoints ?? Failpoints()
        self.failpoints = points
        points.begin(.registering)
        self.version = version
        scheduler = ManualScheduler(clock: clock)
        let random = SystemRandomSource()
        var options = YapDatabaseOptions()
        options.random = random
        vfs = failpoints.map { _ in FaultVFS() }
        if let vfs {
            options.vfsName = vfs.name
            vfs.kill { kind in
                switch kind {
                case .write: points.strikes(.write)
                case .sync: points.strikes(.sync)
                default: points.strikes(.truncate)
                }
            }
        }
        let isEarlier = use == .cloudSync && version % 2 == 0
        database = try YapDatabase(path: path, options: options) {
            if isEarlier {
                $0.register(EarlierItem.self, inCollection: HandledApp.collection)
            } else {
                $0.register(Item.self, inCollection: HandledApp.collection)
            }
        }
        connection = database.newConnection()
        let container = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: BlockingTransport(port: port, client: client, failpoints: points),
                execution: .inline, webAuthToken: token))
        try register(container, use, isEarlier: isEarlier, random)
    }

    private func register(
        _ container: CKContainer, _ use: Use, isEarlier: Bool, _ random: any RandomSource
    ) throws {
        let work = FailpointScheduler(base: scheduler, failpoints: failpoints)
        if use == .cloudSync {
            sync = try CloudSync(
                database, container: container,
                models: [
                    isEarlier
                        ? .model(EarlierItem.self, collection: HandledApp.collection)
                        : .model(Item.self, collection: HandledApp.collection)
                ], zone: HandledApp.zoneID.zoneName, scheduler: work, clock: clock, random: random)
        } else {
            let options = YapDatabaseCloudKit.Options(
                allowedCollections: [HandledApp.collection],
                storage: use == .handlerKeysOnly ? .keysOnly : .values, failures: .app)
            app = try HandledApp(
                database, container: container, version: version, options: options,
                environment: SyncEnvironment(
                    scheduler: work, clock: clock, random: random, databaseBlock: { _ in nil },
                    errorBlock: { _, _ in }), failpoints: failpoints)
        }
        try database.blocking.register(FailpointExtension(failpoints), withName: "failpoints")
        failpoints.begin(.preparing)
    }

    // MARK: The person

    /// Changes items in one commit; a deletion of what isn't there does nothing.
    package func commit(_ edits: [(key: String, edit: Edit)]) throws {
        let before = failpoints.begin(.committing)
        try connection.blocking.readWrite { transaction in
            for (key, edit) in edits { try apply(edit, key, transaction) }
        }
        failpoints.begin(before)
    }

    private func apply(_ edit: Edit, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        let collection = HandledApp.collection
        let bytes = try transaction.serializedObject(forKey: key, inCollection: collection)
        var item = try bytes.map { _ in try self.item(key, transaction) } ?? nil
        switch edit {
        case .delete:
            return try transaction.removeObject(forKey: key, inCollection: collection)
        case .set(let count, let text):
            item = item ?? Item(count: count, text: "new \(count)")
            item?.count = count
            if let text { item?.text = text }
        case .note(let note, let text):
            item?.note = note
            if let text { item?.text = text }
        }
        guard let item else { return }
        if isEarlier {
            var earlier = EarlierItem()
            (earlier.count, earlier.text, earlier.note, earlier.extra) = (
                item.count, item.text, item.note, item.extra
            )
            try transaction.setObject(earlier, forKey: key, inCollection: collection)
        } else {
            try transaction.setObject(item, forKey: key, inCollection: collection)
        }
    }

    private var isEarlier: Bool { sync != nil && version % 2 == 0 }

    private func item(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Item? {
        let collection = HandledApp.collection
        guard isEarlier else {
            return try transaction.object(Item.self, forKey: key, inCollection: collection)
        }
        let earlier = try transaction.object(EarlierItem.self, forKey: key, inCollection: collection)
        return earlier.map { earlier in
            var item = Item(count: earlier.count, text: earlier.text)
            (item.note, item.extra) = (earlier.note, earlier.extra)
            return item
        }
    }

    // MARK: The sync

    /// Does at most so many pieces of the sync's work.
    package func sync(stepsMax: Int) throws {
        sync?.fetch()
        _ = try app?.round { scheduler.run(stepsMax: stepsMax) }
        if sync != nil { scheduler.run(stepsMax: stepsMax) }
    }

    /// Syncs until nothing is left to do.
    /// - Returns: Whether that came to an end.
    package func syncToTheEnd() throws -> Bool {
        sync?.fetch()
        app?.noteRemoteChange()
        for _ in 0..<Self.roundsMax {
            var errors: [CKError] = []
            if let app {
                errors = try app.round { scheduler.runUntilQuiet() }
            } else {
                scheduler.runUntilQuiet()
            }
            if let wake = scheduler.nextWakeMilliseconds {
                clock.advance(bySeconds: Double(max(0, wake - clock.nowMilliseconds())) / 1000)
            } else if errors.isEmpty {
                return try isAtRest
            }
        }
        return false
    }

    private var isAtRest: Bool {
        get throws { try status.state == .idle && pendingCount == 0 }
    }

    package var status: CloudSyncStatus { sync?.currentStatus ?? app?.cloudKit.status ?? CloudSyncStatus() }

    /// How many change-sets wait.
    package var pendingCount: Int {
        get throws {
            try connection.blocking.read { transaction in
                let name = sync == nil ? HandledApp.name : "cloudKit"
                return try transaction.ext(name, as: YapDatabaseCloudKit.self).numberOfPendingChangeSets()
            }
        }
    }

    /// All items by their keys.
    package func items() throws -> [String: Item] {
        try connection.blocking.read { transaction in
            var items: [String: Item] = [:]
            for key in try transaction.allKeys(inCollection: HandledApp.collection) {
                items[key] = try item(key, transaction)
            }
            return items
        }
    }

    /// Writes the log back to the file, as happens now and then, and cuts it when no reader is there.
    package func maintain() throws {
        let before = failpoints.begin(.maintaining)
        var options = OpenOptions()
        options.vfsName = vfs?.name
        let connection = try Connection(path: database.path, options: options)
        try connection.checkpoint()
        try connection.close()
        failpoints.begin(before)
    }

    package func close() throws {
        try database.blocking.close()
        scheduler.runUntilQuiet()
        client.stop()
    }
}
