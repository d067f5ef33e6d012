import CloudKit
import Foundation
import Simulation
import Yap
import YapCloudKit

/// A device of the user, run step by step on the caller's thread.
protocol SimulatedDevice: AnyObject {
    var index: Int { get }
    var cloud: SimulatedCloud { get }
    /// The version of the app: 1 knows neither notes nor that completion days are synced.
    var version: Int { get set }
    /// Whether it has the items of the second database too.
    var hasOthers: Bool { get }

    /// The way into its file.
    func connection() throws -> YapDatabaseConnection
    func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo?
    func write(_ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws
    func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws
    /// All items by their keys, notes and others too.
    func todos() throws -> [String: Todo]
    /// What the person's deletions do in a transaction before; most devices do nothing.
    func prepareToDelete(_ keys: [String]) throws

    /// Starts the process of the app's version on its file.
    func begin() throws
    /// Ends the process: the file is closed, and what was under way reaches neither it nor the cloud.
    func end() throws

    /// Fetches and sends what there is, as far as the faults, and the steps given, let it come.
    func sync(stepsMax: Int) throws
    /// Syncs until nothing is left to do, and waits where the sync says that it waits.
    func syncUntilIdle() throws
    /// What the sync says of itself; `idle` when nothing waits.
    func status() throws -> CloudSyncStatus
}

/// What happens to an item in a transaction.
enum Edit {
    case delete
    case deleteAndInsert(Todo)
    case change(fields: [String], value: Int, clears: Bool, orInsert: Todo)
}

/// A device whose file could not be opened again.
struct CannotRestart: Error {
    let device: Int
}

/// Lets a device into closures that are sendable by type, and that it holds itself.
struct WeakDevice<Device: AnyObject>: @unchecked Sendable {
    // Sendable because a run and all that belongs to it live on the one thread that runs it.
    weak var device: Device?
}

extension SimulatedDevice {
    /// Steps of the sync that one call may take; beyond it something goes round in circles.
    static var stepsMax: Int { 2_000 }
    /// Times that a device, faults gone, waits for a pause to end.
    static var pausesMax: Int { 20 }

    func prepareToDelete(_ keys: [String]) throws {}

    // MARK: Processes

    /// Ends the process and starts another on its file.
    func restart() throws {
        cloud.trace.note("device \(index) restarts")
        try end()
        try begin()
        cloud.revive(index)
    }

    /// Ends the process, and starts the app's next version on its file.
    func upgrade() throws {
        cloud.trace.note("device \(index) is upgraded")
        try noteNewFields()
        try end()
        version = 2
        try begin()
        cloud.revive(index)
    }

    /// Writes down what a merge decided.
    func noteMerges(_ entries: [CloudMergeLogEntry]) {
        guard cloud.sabotage?.kind != .mergeLogSilent else { return }
        for entry in entries {
            cloud.trace.note("device \(index) merge \(entry)")
            cloud.ledger.merged(device: index, entry, record: entry.recordID.recordName)
        }
    }

    // MARK: The person

    /// Edits items in one commit.
    func commit(_ edits: [(key: String, edit: Edit)]) throws {
        let connection = try connection()
        let earlier = try connection.blocking.read { transaction in
            try edits.map { try read($0.key, transaction) }
        }
        try prepareToDelete(
            edits.indices.filter { index in
                if case .delete = edits[index].edit { earlier[index] != nil } else { false }
            }.map { edits[$0].key })
        let after = try connection.blocking.readWrite { transaction in
            for (index, (key, edit)) in edits.enumerated() {
                try apply(edit, to: earlier[index], key, transaction)
            }
            return try edits.map { try read($0.key, transaction) }
        }
        for (index, (key, _)) in edits.enumerated() { note(key, earlier[index], after[index]) }
    }

    private func apply(
        _ edit: Edit, to todo: Todo?, _ key: String, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        switch edit {
        case .delete: try remove(key, transaction)
        case .deleteAndInsert(let new):
            try remove(key, transaction)
            try write(new, key, transaction)
        case .change(let fields, let value, let clears, let new):
            guard var todo else { return try write(new, key, transaction) }
            for field in fields { todo.change(field, to: value, clears: clears) }
            try write(todo, key, transaction)
        }
    }

    /// Writes into the ledger what the commit changed in an item.
    func note(_ key: String, _ before: Todo?, _ after: Todo?) {
        guard let after else {
            guard before != nil else { return }
            cloud.trace.note("device \(index) deletes \(key)")
            return cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: Ledger.deletion, value: ""))
        }
        func tracked(_ todo: Todo) -> [(field: String, value: String)] {
            todo.trackedValues.filter { isSynced($0.field, key) }
        }
        let old = Dictionary(uniqueKeysWithValues: before.map(tracked)?.map { ($0.field, $0.value) } ?? [])
        let new = Set(tracked(after).map(\.field))
        for field in old.keys.sorted() where !new.contains(field) {
            cloud.trace.note("device \(index) clears \(key).\(field)")
            cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: field, value: Ledger.cleared))
        }
        for (field, value) in tracked(after) where old[field] != value {
            cloud.trace.note("device \(index) sets \(key).\(field) = \(value)")
            cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: field, value: value), isInsert: before == nil)
        }
    }

    private func isSynced(_ field: String, _ key: String) -> Bool {
        if key.hasPrefix(Keys.note) { return field == "text" }
        return version > 1 || !Todo.laterFields.contains(field)
    }

    /// What was changed while it was no field becomes one with the app's next version.
    func noteNewFields() throws {
        for (key, todo) in try todos().sorted(by: { $0.key < $1.key }) {
            guard !key.hasPrefix(Keys.note), let day = todo.completionDay else { continue }
            cloud.trace.note("device \(index) now syncs \(key).completionDay = \(day)")
            cloud.ledger.committed(
                device: index, Ledger.Value(record: key, field: "completionDay", value: day))
        }
    }
}
