import CloudStore
import Foundation
import Simulation
import System
import YapCloudKit

/// Devices of one user, each on threads of its own, and a cloud. First all edit and sync at once while the network
/// loses and repeats; then it is good, and all must become equal.
final class Fleet {
    private static let stepsOfADevice = 25
    private static let keysCount = 4
    /// How often each device edits and comes to rest while the network is good.
    private static let quietEdits = 15
    private static let healingRoundsMax = 10

    struct Outcome {
        var failures: [String] = []
        var commits = 0
        var writes = 0
        var upgrades = 0
        var rests = 0
    }

    /// What the devices' threads found.
    private struct Findings: Sendable {
        var failures: [String] = []
        var upgrades = 0
        var rests = 0
    }

    private let seed: UInt64
    private let cloud: any FleetCloud
    private let devices: [FleetDevice]
    private let ledger: Lock<Ledger>
    private let findings = Lock(Findings())

    /// Runs a fleet.
    ///
    /// - Parameters:
    ///   - seed: Decides what each person does. Threads decide when.
    ///   - upgrades: Whether some devices begin with the app's first version.
    ///   - cloud: Makes the cloud, with the files of the run in a folder.
    static func run(
        seed: UInt64, upgrades: Bool, on cloud: (URL, Lock<Ledger>) throws -> any FleetCloud
    ) throws -> Outcome {
        let folder = Folder.fast.appending(path: "yap-fleet-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ledger = Lock(Ledger())
        let cloud = try cloud(folder, ledger)
        defer { cloud.end() }
        let fleet = try Fleet(seed: seed, upgrades: upgrades, folder, ledger, cloud)
        return try fleet.run()
    }

    private init(
        seed: UInt64, upgrades: Bool, _ folder: URL, _ ledger: Lock<Ledger>, _ cloud: any FleetCloud
    ) throws {
        self.seed = seed
        self.ledger = ledger
        self.cloud = cloud
        let random = SeededRandomSource(seed: seed)
        devices = try (0..<random.next(in: 2..<4)).map { index in
            try FleetDevice(
                index, version: upgrades && random.next(in: 0..<3) > 0 ? 1 : 2, seed: seed,
                path: folder.appending(path: "device\(index).sqlite").path, ledger: ledger, cloud: cloud)
        }
    }

    private func run() throws -> Outcome {
        onThreads(live)
        cloud.calm()
        for device in devices { device.retry() }
        // What is committed arrives without another request for it.
        for device in devices { try rest(device) }
        onThreads(editQuietly)
        for device in devices { try upgrade(device) }
        var outcome = Outcome()
        outcome.failures += try heal()
        let found = findings.withLock { $0 }
        outcome.failures += found.failures + cloud.failures
        (outcome.upgrades, outcome.rests) = (found.upgrades, found.rests)
        ledger.withLock { ledger in
            outcome.failures += ledger.lies
            outcome.failures += ledger.unaccounted.map { "device \($0.device): \($0.value) is nowhere" }
            if cloud.isWatched { outcome.failures += ledger.overwrites.faults }
            outcome.commits = ledger.commits.count
            outcome.writes = ledger.historyCount
        }
        for device in devices { try device.end() }
        return outcome
    }

    // MARK: What the devices do

    /// Every device at once, each on a thread of its own.
    private func onThreads(_ body: @escaping (FleetDevice) throws -> Void) {
        let group = DispatchGroup()
        // Each device is used by its own thread alone until that has ended; the rest of a fleet is locked or constant.
        let (fleet, body) = (SingleThreaded(value: self), SingleThreaded(value: body))
        for index in devices.indices {
            group.enter()
            Thread {
                defer { group.leave() }
                let device = fleet.value.devices[index]
                do {
                    try body.value(device)
                } catch {
                    fleet.value.note("device \(device.index): \(error)")
                }
            }.start()
        }
        group.wait()
    }

    /// Edits, fetches and syncs, while the network loses and repeats.
    private func live(_ device: FleetDevice) throws {
        let random = SeededRandomSource(seed: seed &* 101 &+ UInt64(device.index))
        let upgradeStep = random.next(in: 0..<2 * Self.stepsOfADevice)
        for step in 0..<Self.stepsOfADevice {
            let key = "item\(random.next(in: 0..<Self.keysCount))"
            try edit(key, on: device, number: step, random)
            if random.next(in: 0..<4) == 0 { device.fetch() }
            switch random.next(in: 0..<16) {
            case 0, 1: note(try device.leftBehind(device.syncNow()))
            case 2: try rest(device)
            default: break
            }
            if step == upgradeStep { try upgrade(device) }
        }
    }

    /// One or a few commits, at any moment of the upload of those before, and then nothing may be left.
    private func editQuietly(_ device: FleetDevice) throws {
        let random = SeededRandomSource(seed: seed &* 103 &+ UInt64(device.index))
        for edit in 0..<Self.quietEdits {
            // A page is applied on another thread than the sync's own.
            device.fetch()
            for number in 0..<random.next(in: 1..<6) {
                let key = "item\(random.next(in: 0..<Self.keysCount))"
                try self.edit(key, on: device, number: 1_000 + 10 * edit + number, random)
            }
            try rest(device)
        }
    }

    private func edit(
        _ key: String, on device: FleetDevice, number: Int, _ random: SeededRandomSource
    ) throws {
        // No other edit has this value.
        let value = (device.index + 1) * 100_000 + number
        let kind = random.next(in: 0..<10)
        let field = Todo.editableFields[random.next(in: 0..<Todo.editableFields.count)]
        try device.commit(key) { todo in
            guard kind > 0 else { return nil }
            var todo = todo ?? Todo(text: "text \(value) é", order: Double(value))
            todo.change(field, to: value, clears: false)
            return todo
        }
    }

    private func rest(_ device: FleetDevice) throws {
        findings.withLock { $0.rests += 1 }
        note(try device.rest())
    }

    private func upgrade(_ device: FleetDevice) throws {
        if try device.upgrade() { findings.withLock { $0.upgrades += 1 } }
    }

    private func note(_ failure: String?) {
        if let failure { findings.withLock { $0.failures.append(failure) } }
    }

    // MARK: The calm

    /// - Returns: What is not equal after all rounds.
    private func heal() throws -> [String] {
        var left: [String] = []
        for _ in 0..<Self.healingRoundsMax {
            left = []
            for device in devices {
                let status = device.syncNow()
                if status.state != .idle { left.append("device \(device.index) is \(status)") }
                note(try device.leftBehind(status))
            }
            left += try differences()
            if left.isEmpty { return [] }
        }
        return left
    }

    private func differences() throws -> [String] {
        let server = try cloud.todos()
        return try devices.flatMap { device in
            TodoComparison([try device.todos(), server]).differences.map { row in
                "\(row.key) on device \(device.index): \(row.todos.map { $0.map { "\($0)" } ?? "absent" })"
            }
        }
    }
}

extension Ledger {
    /// Hears of rows that the service has written.
    mutating func serverHas(_ rows: [StoredRecord]) {
        for row in rows {
            if row.isDeleted {
                serverDeleted(record: row.key.recordName)
            } else if let todo = try? ServerColumn.todo(of: row) {
                serverHas(record: row.key.recordName, fields: todo.trackedValues)
            }
        }
    }
}
