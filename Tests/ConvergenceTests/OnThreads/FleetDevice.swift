import CloudKit
import Foundation
import Simulation
import System
import Yap

@testable import YapCloudKit

/// A device of the user, on real threads: an app with `CloudSync`, in one of its two versions.
///
/// Its methods block: it is used on a thread of its own.
final class FleetDevice {
    /// The app's process: what opens the file and closes it again.
    private struct App {
        let database: YapDatabase
        let connection: YapDatabaseConnection
        let sync: CloudSync
        let version: Int
        let rows: CloudSyncRows
    }

    let index: Int
    private let seed: UInt64
    private let path: String
    private let cloud: any FleetCloud
    private let ledger: Lock<Ledger>
    private var app: App

    init(
        _ index: Int, version: Int, seed: UInt64, path: String, ledger: Lock<Ledger>, cloud: any FleetCloud
    ) throws {
        self.index = index
        self.seed = seed
        self.path = path
        self.ledger = ledger
        self.cloud = cloud
        app = try Self.start(index, version, seed, path, cloud) { [ledger] in
            Self.note($0, of: index, ledger)
        }
    }

    private static func start(
        _ index: Int, _ version: Int, _ seed: UInt64, _ path: String, _ cloud: any FleetCloud,
        noteMerges: @escaping @Sendable ([CloudMergeLogEntry]) -> Void
    ) throws -> App {
        let clock = HastyTimeSource()
        let random = SeededRandomSource(seed: seed &* 17 &+ UInt64(index + 100 * version))
        var options = YapDatabaseOptions()
        options.random = random
        let rows = CloudSyncRows(version: version, [])
        let database = try YapDatabase(path: path, options: options) { rows.register(in: &$0) }
        let sync = try CloudSync(
            database, container: try cloud.container(ofDevice: index), models: rows.models, zone: "todos",
            scheduler: HastyScheduler(clock: clock), clock: clock, random: random)
        sync.observeMergeLog(noteMerges)
        return App(
            database: database, connection: database.newConnection(), sync: sync, version: version, rows: rows
        )
    }

    /// Ends the app's first version, and starts its second one on the same file.
    /// - Returns: Whether it was the first.
    func upgrade() throws -> Bool {
        guard app.version == 1 else { return false }
        try app.database.blocking.close()
        let rows = app.rows
        let database = try YapDatabase(path: path) { rows.register(in: &$0) }
        let todos = try database.newConnection().blocking.read { try rows.todos($0) }
        try database.blocking.close()
        ledger.withLock { ledger in
            ledger.startedOver(device: index)
            for (key, todo) in todos {
                for (field, value) in todo.trackedValues where !isSynced(field) {
                    ledger.nowSyncs(device: index, Ledger.Value(record: key, field: field, value: value))
                }
            }
        }
        app = try Self.start(index, 2, seed, path, cloud) { [index, ledger] in
            Self.note($0, of: index, ledger)
        }
        return true
    }

    private func isSynced(_ field: String) -> Bool {
        app.version > 1 || !Todo.laterFields.contains(field)
    }

    // MARK: The person

    /// Changes an item, or makes or deletes it, in one commit.
    func commit(_ key: String, _ edit: @escaping @Sendable (Todo?) -> Todo?) throws {
        let rows = app.rows
        let mark = ledger.withLock { $0.mark(record: key) }
        try app.connection.blocking.readWrite { transaction in
            let before = try rows.read(key, transaction)
            if let after = edit(before) {
                try rows.write(after, key, transaction)
            } else if before != nil {
                try rows.remove(key, transaction)
            }
            let after = try rows.read(key, transaction)
            // Before the commit: after it, the server or a merge may have the value first.
            ledger.withLock { note(key, before, after, mark, in: &$0) }
        }
    }

    private func note(
        _ key: String, _ before: Todo?, _ after: Todo?, _ mark: Ledger.Mark, in ledger: inout Ledger
    ) {
        for (field, value) in before?.trackedValues ?? []
        where after == nil || !(after?.trackedValues.contains { $0.field == field } ?? false) {
            ledger.removed(device: index, Ledger.Value(record: key, field: field, value: value))
        }
        guard let after else {
            guard before != nil else { return }
            let deletion = Ledger.Value(record: key, field: Ledger.deletion, value: "")
            return ledger.committed(device: index, deletion, mark: mark)
        }
        let old = Dictionary(uniqueKeysWithValues: before?.trackedValues.map { ($0.field, $0.value) } ?? [])
        for (field, value) in after.trackedValues where old[field] != value {
            guard isSynced(field) else {
                ledger.changedUnsynced(device: index, record: key, field: field)
                continue
            }
            let committed = Ledger.Value(record: key, field: field, value: value)
            ledger.committed(
                device: index, committed, isInsert: before == nil, before: old[field], mark: mark)
        }
    }

    private static func note(_ entries: [CloudMergeLogEntry], of index: Int, _ ledger: Lock<Ledger>) {
        ledger.withLock { ledger in
            for entry in entries {
                ledger.merged(device: index, entry, record: entry.recordID.recordName)
            }
        }
    }

    // MARK: The sync

    /// Lets the sync look for what others did; doesn't wait.
    func fetch() { app.sync.fetch() }

    /// Syncs until nothing is under way any more, and waits for it.
    func syncNow() -> CloudSyncStatus {
        let sync = app.sync
        return Self.waiting { await sync.syncNow() }
    }

    /// Waits until nothing is under way any more, and asks for nothing.
    /// - Returns: What is wrong: it says that it is idle, and something waits.
    func rest() throws -> String? {
        let runner = app.sync.cloudKit.runner
        let status = Self.waiting {
            await withCheckedContinuation { continuation in
                runner.whenQuiet { continuation.resume(returning: $0) }
            }
        }
        return try leftBehind(status)
    }

    /// What waits on a device that says it is idle: nobody else commits on it.
    func leftBehind(_ status: CloudSyncStatus) throws -> String? {
        guard status.state == .idle else { return nil }
        let count = try app.connection.blocking.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).numberOfPendingChangeSets()
        }
        return count > 0 ? "device \(index) says it is idle, and \(count) change-sets wait" : nil
    }

    private static func waiting(
        for body: @escaping @Sendable () async -> CloudSyncStatus
    ) -> CloudSyncStatus {
        let done = DispatchSemaphore(value: 0)
        let status = Lock(CloudSyncStatus())
        Task {
            let result = await body()
            status.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        return status.withLock { $0 }
    }

    /// The network is good from here on.
    func retry() { app.sync.retry() }

    func todos() throws -> [String: Todo] {
        let rows = app.rows
        return try app.connection.blocking.read { try rows.todos($0) }
    }

    func end() throws { try app.database.blocking.close() }
}
