import CloudServer
import CloudService
import CloudStore
import FaultProxy
import Foundation
import Seams
import Simulation
import SyncDevices
import YapCloudKit

/// Devices of one user on threads of their own, and the real server on a port, with a proxy before each device.
final class HTTPWorld {
    static let stepsOfADevice = 25
    static let keysCount = 4
    static let healingRoundsMax = 10
    private static let user = ServiceUser(userRecordName: "_ada")
    private static let token = "ada's token"

    struct Outcome {
        var failures: [String] = []
        var faults = ProxyCounts()
        var commits = 0
        var writes = 0
    }

    private let seed: UInt64
    private let store: SQLiteCloudStore
    private let server: CloudServer
    private let devices: [HTTPDevice]
    private let ledger = Lock(Ledger())

    static func run(seed: UInt64) throws -> Outcome {
        let folder = Folder.fast.appending(path: "yap-convergence-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = try HTTPWorld(seed: seed, folder)
        defer { world.server.stop() }
        return try world.run()
    }

    private init(seed: UInt64, _ folder: URL) throws {
        self.seed = seed
        let random = SeededRandomSource(seed: seed)
        let store = try SQLiteCloudStore(path: folder.appending(path: "cloud.sqlite").path)
        self.store = store
        let ledger = ledger
        let watched = WatchedStore(store) { rows in ledger.withLock { Self.observe(rows, &$0) } }
        server = CloudServer(
            CloudService(
                store: watched, clock: SystemTimeSource(), random: random, users: [Self.token: Self.user]))
        try server.start()
        let port = server.port
        devices = try (0..<random.next(in: 2..<4)).map {
            try HTTPDevice(
                $0, seed: seed, serverPort: port, path: folder.appending(path: "device\($0).sqlite").path,
                ledger: ledger, token: Self.token)
        }
    }

    private static func observe(_ rows: [RecordRow], _ ledger: inout Ledger) {
        for row in rows {
            if row.isDeleted {
                ledger.serverDeleted(record: row.key.recordName)
            } else if let todo = try? ServerColumn.todo(of: row) {
                ledger.serverHas(record: row.key.recordName, fields: todo.trackedValues)
            }
        }
    }

    private func run() throws -> Outcome {
        var outcome = Outcome()
        outcome.failures += storm()
        for device in devices { device.calm() }
        try heal(&outcome)
        ledger.withLock { ledger in
            outcome.failures += ledger.lies
            outcome.failures += ledger.unaccounted.map { "device \($0.device): \($0.value) is nowhere" }
            outcome.commits = ledger.commits.count
            outcome.writes = ledger.historyCount
        }
        for device in devices {
            outcome.faults.add(device.proxy.counts)
            try device.end()
        }
        return outcome
    }

    // MARK: The storm

    /// Every device at once, each with its own sequence of edits and fetches.
    private func storm() -> [String] {
        let failures = Lock<[String]>([])
        let group = DispatchGroup()
        for device in devices {
            group.enter()
            let seed = seed
            Thread {
                defer { group.leave() }
                do {
                    try Self.live(device, seed: seed)
                } catch {
                    failures.withLock { $0.append("device \(device.index): \(error)") }
                }
            }.start()
        }
        group.wait()
        return failures.withLock { $0 }
    }

    private static func live(_ device: HTTPDevice, seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed &* 101 &+ UInt64(device.index))
        for step in 0..<stepsOfADevice {
            let key = "item\(random.next(in: 0..<keysCount))"
            // No other edit has this value.
            let value = (device.index + 1) * 100_000 + step
            let kind = random.next(in: 0..<10)
            let field = Todo.editableFields[random.next(in: 0..<Todo.editableFields.count)]
            try device.commit(key) { todo in
                guard kind > 0 else { return nil }
                var todo = todo ?? Todo(text: "text \(value) é", order: value)
                todo.change(field, to: value, clears: false)
                return todo
            }
            if random.next(in: 0..<4) == 0 { device.fetch() }
            if random.next(in: 0..<8) == 0 { _ = device.syncNow() }
        }
    }

    // MARK: The calm

    private func heal(_ outcome: inout Outcome) throws {
        var left: [String] = []
        for _ in 0..<Self.healingRoundsMax {
            left = []
            for device in devices {
                let status = device.syncNow()
                if status != .idle { left.append("device \(device.index) is \(status)") }
            }
            left += try differences()
            if left.isEmpty { return }
        }
        outcome.failures += left
    }

    private func differences() throws -> [String] {
        let zone = ZoneKey(database: .privateDatabase(of: Self.user.userRecordName), zoneName: "todos")
        let server = try ServerColumn(store: store, zone: zone).todos()
        return try devices.flatMap { device in
            TodoComparison([try device.todos(), server]).differences.map { row in
                "\(row.key) on device \(device.index): \(row.todos.map { $0.map { "\($0)" } ?? "absent" })"
            }
        }
    }
}

extension ProxyCounts {
    mutating func add(_ other: ProxyCounts) {
        exchanges += other.exchanges
        requestsLost += other.requestsLost
        requestsCut += other.requestsCut
        requestsDuplicated += other.requestsDuplicated
        requestsDelayed += other.requestsDelayed
        repliesDropped += other.repliesDropped
        repliesCut += other.repliesCut
    }
}
