import CloudKit
import Foundation
import Seams
import TodoKit
import Yap
import YapCloudKit

/// A device of the user: its file, and the app's sync on it, run step by step on the caller's thread.
final class Device {
    /// What happens to an item in a transaction.
    enum Edit {
        case delete
        case deleteAndInsert(Todo)
        case change(fields: [String], value: Int, clears: Bool, orInsert: Todo)
    }

    /// Steps of the sync that one call may take; beyond it something goes round in circles.
    static let stepsMax = 2_000
    /// Times that a device, faults gone, waits for a pause to end.
    static let pausesMax = 20

    let index: Int
    private let path: String
    private unowned let cloud: SimulatedCloud
    private let container: CKContainer
    private var app: App?

    /// What lives as long as the device's process.
    private struct App {
        let database: YapDatabase
        let connection: YapDatabaseConnection
        let scheduler: ManualScheduler
        let sync: CloudSync
    }

    init(_ index: Int, path: String, cloud: SimulatedCloud) throws {
        self.index = index
        self.path = path
        self.cloud = cloud
        container = CKContainer(
            identifier: "iCloud.yap.test",
            connection: CloudConnection(
                transport: SimulatedWire(cloud, device: index), execution: .inline,
                webAuthToken: SimulatedCloud.token))
        app = try open()
    }

    /// Ends the process and starts another on its file.
    func restart() throws {
        cloud.trace.note("device \(index) restarts")
        try end()
        app = try open()
        cloud.revive(index)
    }

    /// Ends the process: the file is closed, and what was under way reaches neither it nor the cloud.
    func end() throws {
        guard let ending = app else { return }
        app = nil
        try ending.database.close()
        cloud.bury(index)
        // What is left of the process finds that out, and lets go of its files.
        ending.scheduler.run(stepsMax: Self.stepsMax)
    }

    // MARK: The person

    func commit(_ edits: [(key: String, edit: Edit)]) throws {
        let app = try running()
        let (before, after) = try app.connection.blocking.readWrite { transaction in
            let before = try edits.map {
                try transaction.object(Todo.self, forKey: $0.key, inCollection: "todos")
            }
            for (index, (key, edit)) in edits.enumerated() {
                try Self.apply(edit, to: before[index], key, transaction)
            }
            let after = try edits.map {
                try transaction.object(Todo.self, forKey: $0.key, inCollection: "todos")
            }
            return (before, after)
        }
        for (index, (key, _)) in edits.enumerated() {
            note(key, before[index], after[index])
        }
    }

    private static func apply(
        _ edit: Edit, to todo: Todo?, _ key: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        switch edit {
        case .delete:
            try transaction.removeObject(forKey: key, inCollection: "todos")
        case .deleteAndInsert(let new):
            try transaction.removeObject(forKey: key, inCollection: "todos")
            try transaction.setObject(new, forKey: key, inCollection: "todos")
        case .change(let fields, let value, let clears, let new):
            guard var todo else { return try transaction.setObject(new, forKey: key, inCollection: "todos") }
            for field in fields { todo.change(field, to: value, clears: clears) }
            try transaction.setObject(todo, forKey: key, inCollection: "todos")
        }
    }

    /// Writes into the ledger what the commit changed in an item.
    private func note(_ key: String, _ before: Todo?, _ after: Todo?) {
        guard let after else {
            guard before != nil else { return }
            cloud.trace.note("device \(index) deletes \(key)")
            return cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: Ledger.deletion, value: ""))
        }
        let old = Dictionary(uniqueKeysWithValues: before?.trackedValues.map { ($0.field, $0.value) } ?? [])
        let new = Set(after.trackedValues.map(\.field))
        for field in old.keys.sorted() where !new.contains(field) {
            cloud.trace.note("device \(index) clears \(key).\(field)")
            cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: field, value: Ledger.cleared))
        }
        for (field, value) in after.trackedValues where old[field] != value {
            cloud.trace.note("device \(index) sets \(key).\(field) = \(value)")
            cloud.ledger.committed(device: index, Ledger.Value(record: key, field: field, value: value))
        }
    }

    // MARK: The sync

    /// Fetches and sends what there is, as far as the faults, and the steps given, let it come.
    func sync(stepsMax: Int) throws {
        let app = try running()
        cloud.trace.note("device \(index) syncs")
        app.sync.fetch()
        app.scheduler.run(stepsMax: stepsMax)
        if cloud.isDead(index) { try restart() }
    }

    /// Syncs until nothing is left to do, and waits where the sync says that it waits.
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

    func todos() throws -> [String: Todo] {
        try running().connection.blocking.read { transaction in
            var todos = [String: Todo]()
            for row in try transaction.objects(Todo.self, inCollection: "todos") {
                todos[row.key] = row.object
            }
            return todos
        }
    }

    /// What the sync says of itself; `idle` when nothing waits.
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
        let database = try YapDatabase(path: path, options: options) {
            $0.register(Todo.self, inCollection: "todos")
        }
        let sync = try CloudSync(
            database, container: container, models: [.model(Todo.self, collection: "todos")], zone: "todos",
            scheduler: scheduler, clock: cloud.clock, random: options.random)
        let device = WeakDevice(device: self)
        sync.observeMergeLog { device.device?.noteMerges($0) }
        return App(
            database: database, connection: database.newConnection(), scheduler: scheduler, sync: sync)
    }

    private func noteMerges(_ entries: [CloudMergeLogEntry]) {
        for entry in entries {
            cloud.trace.note("device \(index) merge \(entry)")
            cloud.ledger.merged(device: index, entry)
        }
    }
}

/// A device whose file could not be opened again.
struct CannotRestart: Error {
    let device: Int
}

/// Lets a device into closures that are sendable by type, and that it holds itself.
private struct WeakDevice: @unchecked Sendable {
    // Sendable because a run and all that belongs to it live on the one thread that runs it.
    weak var device: Device?
}
