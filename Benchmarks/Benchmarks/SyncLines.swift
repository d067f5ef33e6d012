import Foundation
import Yap
import YapCloudKit

/// What the sync costs on the device.
func syncLines() throws -> [Line] {
    let tracked = try Workload(rowsCount: 5_000)
    let trackedBar = 0.33
    return [
        tracking("sync.write.tracked", tracked, bar: trackedBar) {
            try SyncDevice.registerHandler(on: $0, storage: .keysOnly)
        },
        tracking("sync.write.tracked.values", tracked, bar: trackedBar) {
            try SyncDevice.registerHandler(on: $0, storage: .values)
        },
        tracking("sync.write.tracked.model", tracked, bar: trackedBar) { try SyncDevice.idleSync(on: $0) },
        tracking("sync.write.waiting", tracked, waits: true) {
            try SyncDevice.registerHandler(on: $0, storage: .keysOnly)
        },
        tracking("sync.write.waiting.values", tracked, waits: true) {
            try SyncDevice.registerHandler(on: $0, storage: .values)
        },
        Line(name: "sync.restore", unit: "changes/s", roundsCount: 5) {
            try RestoreRun(in: $0, storage: .keysOnly)
        },
        Line(name: "sync.restore.values", unit: "changes/s", roundsCount: 5) {
            try RestoreRun(in: $0, storage: .values)
        },
        Line(name: "sync.counts", unit: "counts/s", bar: 0.9) { try CountsRun(in: $0) },
        Line(name: "sync.apply.fetched", unit: "records/s", bar: 0.4, roundsCount: 2) { _ in try ApplyRun() },
        Line(name: "sync.first.fetch", unit: "records/s", roundsCount: 1) { try FirstRun(in: $0, .fetch) },
        Line(name: "sync.first.upload", unit: "records/s", roundsCount: 1) { try FirstRun(in: $0, .upload) },
        Line(name: "sync.latency", unit: "us", roundsCount: 3) { try await LatencyRun(in: $0) },
    ]
}

/// New objects in one transaction and a change of each in another, against the same without the extension: what the
/// disk's sync takes hides nothing.
///
/// - Parameter waits: Whether the new objects still wait to be sent when they are changed; else the queue is emptied in
///   between, as it is where objects are changed that were sent before.
private func tracking(
    _ name: String, _ workload: Workload, bar: Double? = nil, waits: Bool = false,
    register: @escaping @Sendable (YapDatabase) throws -> Any
) -> Line {
    @Sendable func write(_ database: YapDatabase, between: (YapDatabaseConnection) throws -> Void) throws
        -> Double
    {
        let connection = database.newConnection()
        var duration = Duration.zero
        func timed(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
            let start = ContinuousClock.now
            try connection.blocking.readWrite(body)
            duration += ContinuousClock.now - start
        }
        try timed { try $0.setAll(workload) }
        try between(connection)
        try timed { try SyncDevice.edit($0, workload) }
        return Double(workload.keys.count * 2) / (duration / .seconds(1))
    }
    return Line(
        name: name, unit: "writes/s", bar: bar,
        ours: { folder in
            let database = try Ours.database(in: folder)
            let registered = try register(database)
            defer { withExtendedLifetime(registered) {} }
            return try write(database) { if !waits { try SyncDevice.emptyQueue($0) } }
        },
        reference: { try write(try Ours.database(in: $0)) { _ in } })
}

/// From the opening of the file to the values of 10,000 changes that wait, against opening it and reading the objects.
private final class RestoreRun: LineRun {
    private static let changesCount = 10_000
    private static let changesACommit = 10

    private let folder: URL
    private let storage: YapDatabaseCloudKit.QueueStorage
    private let workload: Workload

    init(in folder: URL, storage: YapDatabaseCloudKit.QueueStorage) throws {
        self.folder = folder
        self.storage = storage
        workload = try Workload(rowsCount: Self.changesCount)
        let database = try Ours.database(in: folder, durability: .normal)
        try SyncDevice.registerHandler(on: database, storage: storage)
        let connection = database.newConnection()
        for start in stride(from: 0, to: Self.changesCount, by: Self.changesACommit) {
            try connection.blocking.readWrite { transaction in
                for index in start..<start + Self.changesACommit {
                    try transaction.setObject(
                        workload.notes[index], forKey: workload.keys[index], inCollection: Workload.collection
                    )
                }
            }
        }
        try database.blocking.close()
    }

    func ours() throws -> Double {
        try rate(Self.changesCount) {
            let database = try Ours.database(in: folder)
            try SyncDevice.registerHandler(on: database, storage: storage)
            let count = try database.newConnection().blocking.read { transaction in
                try transaction.ext(SyncDevice.extensionName, as: YapDatabaseCloudKit.self)
                    .pendingChangeSets()
                    .reduce(0) { $0 + $1.recordsToSave.count }
            }
            guard count == Self.changesCount else { throw BenchError("\(count) changes wait") }
            try database.blocking.close()
        }
    }

    func reference() throws -> Double {
        try rate(Self.changesCount) {
            let database = try Ours.database(in: folder, cachedRows: 0)
            try database.newConnection().blocking.read { try $0.getAll(workload.keys) }
            try database.blocking.close()
        }
    }
}

/// Counting the queue, and committing to it, with 100,000 changes that wait against 100.
private final class CountsRun: LineRun {
    private static let largeCount = 100_000
    private static let smallCount = 100
    private static let changesACommit = 10
    private static let commitsCount = 300

    private struct Queue {
        let database: YapDatabase
        let connection: YapDatabaseConnection
        let expected: Int
        var written = 0
        var commits: [Double] = []
    }

    private var large: Queue
    private var small: Queue
    private let workload: Workload

    init(in folder: URL) throws {
        workload = try Workload(rowsCount: Self.commitsCount * 8)
        large = try Self.queue(Self.largeCount, in: folder.appendingPathComponent("large"))
        small = try Self.queue(Self.smallCount, in: folder.appendingPathComponent("small"))
    }

    private static func queue(_ count: Int, in folder: URL) throws -> Queue {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let workload = try Workload(rowsCount: 1000)
        let filled = try Ours.database(in: folder, durability: .normal)
        try SyncDevice.registerHandler(on: filled, storage: .keysOnly, runs: false)
        let filling = filled.newConnection()
        for start in stride(from: 0, to: count, by: changesACommit) {
            try filling.blocking.readWrite { transaction in
                for index in start..<start + changesACommit {
                    try transaction.setObject(
                        workload.notes[index % 1000], forKey: "row \(index)",
                        inCollection: Workload.collection)
                }
            }
        }
        try filled.blocking.close()
        let database = try Ours.database(in: folder, durability: .normal)
        try SyncDevice.registerHandler(on: database, storage: .keysOnly)
        let connection = database.newConnection()
        return Queue(database: database, connection: connection, expected: count / changesACommit)
    }

    func ours() throws -> Double { try counts(&large, times: 2_000) }
    func reference() throws -> Double { try counts(&small, times: 2_000) }

    private func counts(_ queue: inout Queue, times: Int) throws -> Double {
        let expected = queue.expected
        let connection = queue.connection
        return try rate(times) {
            for _ in 0..<times {
                let count = try connection.blocking.read {
                    try $0.ext(SyncDevice.extensionName, as: YapDatabaseCloudKit.self)
                        .numberOfPendingChangeSets()
                }
                guard count == expected else { throw BenchError("\(count) change-sets wait") }
            }
        }
    }

    func remarks() throws -> [LineRemark] {
        for _ in 0..<3 {
            try commit(to: &large)
            try commit(to: &small)
        }
        let ours = LineResult.median(large.commits)
        let ratio = ours / LineResult.median(small.commits)
        let text = String(format: "commits to it %.2f (%.0f commits/s)", ratio, ours)
        return [LineRemark(text: text)]
    }

    private func commit(to queue: inout Queue) throws {
        let first = queue.written
        let connection = queue.connection
        queue.commits.append(
            try rate(Self.commitsCount) {
                for index in first..<first + Self.commitsCount {
                    try connection.blocking.readWrite { transaction in
                        try transaction.setObject(
                            workload.notes[index], forKey: workload.keys[index],
                            inCollection: Workload.collection)
                    }
                }
            })
        queue.written += Self.commitsCount
    }

    func close() {
        try? large.database.blocking.close()
        try? small.database.blocking.close()
    }
}
