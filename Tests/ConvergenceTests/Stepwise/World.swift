import Foundation
import Simulation
import System
import YapCloudKit

/// What a run has come to.
struct Outcome {
    var scenario: Scenario
    var trace: Trace
    /// What the checker found; empty when every demand was met.
    var failures: [Failure]
    var firings: [Fault: Int]
    /// Rows that the service wrote.
    var acknowledgedWrites: Int
    /// Values and deletions that devices committed.
    var localCommits: Int
    /// Rounds of syncing that it took after the faults had stopped.
    var healingRounds: Int
    var dropsByRule: [(rule: String, count: Int)]
}

/// A demand that was not met.
struct Failure: CustomStringConvertible {
    enum Demand: String {
        case noError, wireIsRight, devicesEqualServer, queuesEmpty, nothingLeftToSend, everyValueAccountedFor,
            mergeLogIsTrue, zonesAgree
    }

    let demand: Demand
    let details: String

    var description: String { "\(demand.rawValue): \(details)" }
}

/// One run: devices of one user and their cloud, on one thread, in the order that the seed draws.
final class World {
    /// How often each device may sync, faults gone, until all is equal.
    static let healingRoundsMax = 6

    private let scenario: Scenario
    private let random: SeededRandomSource
    private let cloud: SimulatedCloud
    private var devices = [any SimulatedDevice]()
    private var valuesCount = 0
    private var failures = [Failure]()

    static func run(seed: UInt64, sabotage: Sabotage? = nil) throws -> Outcome {
        let folder = Folder.fast.appending(path: "yap-convergence-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let random = SeededRandomSource(seed: seed)
        let world = try World(Scenario(seed: seed, random: random), random, folder, sabotage)
        return try world.run()
    }

    private init(
        _ scenario: Scenario, _ random: SeededRandomSource, _ folder: URL, _ sabotage: Sabotage?
    ) throws {
        self.scenario = scenario
        self.random = random
        cloud = try SimulatedCloud(
            scenario, path: folder.appending(path: "cloud.sqlite").path, random: random)
        cloud.sabotage = sabotage
        cloud.trace.note("\(scenario)")
        cloud.ledger.foldingDevices = Set(
            (scenario.fleet ?? []).enumerated().filter { $0.element.handler?.folds == true }.map(\.offset))
        devices = try (0..<scenario.devicesCount).map { index in
            try Self.device(index, scenario, folder.appending(path: "device\(index).sqlite").path, cloud)
        }
    }

    private static func device(
        _ index: Int, _ scenario: Scenario, _ path: String, _ cloud: SimulatedCloud
    ) throws -> any SimulatedDevice {
        let kind = scenario.fleet?[index]
        guard let handler = kind?.handler else {
            return try SyncedDevice(
                index, path: path, cloud: cloud, version: kind?.version ?? 2, hasNotes: kind != nil)
        }
        return try HandlerDevice(
            index, path: path, cloud: cloud, version: kind?.version ?? 2, kind: handler,
            hasOthers: scenario.hasOthers)
    }

    private func run() throws -> Outcome {
        cloud.whileInFlight = { [unowned self] device in
            if cloud.fires(.editInFlight) { try edit(devices[device]) }
        }
        do {
            for _ in 0..<scenario.stepsCount { try step() }
        } catch {
            failures.append(Failure(demand: .noError, details: "\(error)"))
        }
        cloud.isStormy = false
        cloud.trace.note("heals")
        for device in devices where device.version == 1 { try device.upgrade() }
        let rounds = try heal()
        try check()
        for device in devices { try device.end() }
        return Outcome(
            scenario: scenario, trace: cloud.trace, failures: failures, firings: cloud.firings,
            acknowledgedWrites: cloud.ledger.historyCount, localCommits: cloud.ledger.commits.count,
            healingRounds: rounds, dropsByRule: cloud.ledger.dropsByRule)
    }

    // MARK: The storm

    private func step() throws {
        let device = devices[random.next(in: 0..<devices.count)]
        try cloud.maintain()
        if cloud.fires(.deviceRestart) { try device.restart() }
        if device.version == 1, random.next(in: 0..<15) == 0 { try device.upgrade() }
        switch random.next(in: 0..<10) {
        case 0..<5: try edit(device)
        case 5..<9:
            try device.sync(
                stepsMax: cloud.fires(.sleepInSync) ? random.next(in: 1..<12) : SyncedDevice.stepsMax)
        default:
            let seconds = random.next(in: 1..<120)
            cloud.trace.note("clock +\(seconds)")
            cloud.clock.advance(bySeconds: Double(seconds))
        }
    }

    /// One transaction with one to three edits of different items.
    private func edit(_ device: any SimulatedDevice) throws {
        var edits = [(key: String, edit: Edit)]()
        for _ in 0..<random.next(in: 1..<4) {
            let key = "\(randomKind(device))\(random.next(in: 0..<scenario.keysCount))"
            guard !edits.contains(where: { $0.key == key }) else { continue }
            edits.append((key, randomEdit()))
        }
        try device.commit(edits)
    }

    /// Which kind of item an edit is of, among those that the device has.
    private func randomKind(_ device: any SimulatedDevice) -> String {
        guard scenario.fleet != nil else { return Keys.item }
        return switch random.next(in: 0..<10) {
        case 0..<2 where device.hasOthers: Keys.other
        case 2..<4 where device.version > 1: Keys.note
        default: Keys.item
        }
    }

    private func randomEdit() -> Edit {
        valuesCount += 1
        let value = valuesCount
        switch random.next(in: 0..<8) {
        case 0: return .delete
        case 1: return .deleteAndInsert(todo(value))
        default:
            // The item if it isn't there, else one or two fields of it.
            let first = random.next(in: 0..<Todo.editableFields.count)
            let second = random.next(in: 0..<Todo.editableFields.count)
            let clears = random.next(in: 0..<10) == 0
            return .change(
                fields: [Todo.editableFields[first], Todo.editableFields[second]], value: value,
                clears: clears, orInsert: todo(value))
        }
    }

    private func todo(_ value: Int) -> Todo {
        Todo(
            text: "text \(value) é", isDone: value % 2 == 0,
            priority: value % 3 == 0 ? nil : "priority \(value)",
            creationDay: "day \(value)", order: Double(value))
    }

    // MARK: The calm

    private func heal() throws -> Int {
        for round in 1...Self.healingRoundsMax {
            for device in devices { try device.syncUntilIdle() }
            if try differences().isEmpty, try devices.allSatisfy({ try $0.status().state == .idle }) {
                return round
            }
        }
        return Self.healingRoundsMax
    }

    private func differences() throws -> [String] {
        let all = try cloud.todos()
        return try devices.flatMap { device in
            let server = all.filter { device.hasOthers || !$0.key.hasPrefix(Keys.other) }
            return TodoComparison([try device.todos(), server]).differences.map { row in
                "\(row.key) on device \(device.index): \(row.todos.map { $0.map { "\($0)" } ?? "absent" })"
            }
        }
    }

    private func check() throws {
        for violation in cloud.violations { fail(.wireIsRight, violation) }
        for difference in try differences() { fail(.devicesEqualServer, difference) }
        for device in devices where try device.status().state != .idle {
            fail(.queuesEmpty, "device \(device.index) is \(try device.status())")
        }
        let writes = cloud.ledger.historyCount
        // Each device hears the echo of what it sent last; after that there is nothing left to say.
        for device in devices { try device.syncUntilIdle() }
        cloud.forgetRequests()
        for device in devices { try device.syncUntilIdle() }
        for (index, kinds) in cloud.requests.enumerated() {
            for (kind, count) in kinds.sorted(by: { $0.key < $1.key })
            where count > (devices[index].hasOthers ? 2 : 1) || kind.hasSuffix("modify") {
                fail(.nothingLeftToSend, "device \(index) sent \(kind) \(count) times")
            }
        }
        if cloud.ledger.historyCount != writes { fail(.nothingLeftToSend, "the service wrote") }
        for difference in try ZoneSums.differences(devices, cloud) { fail(.zonesAgree, difference) }
        for lie in cloud.ledger.lies { fail(.mergeLogIsTrue, lie) }
        for commit in cloud.ledger.unaccounted {
            let value = commit.value
            fail(
                .everyValueAccountedFor,
                "device \(commit.device): \(value.record).\(value.field) = \(value.value)")
        }
        cloud.trace.note("history \(cloud.ledger.historyCount) failures \(failures.count)")
    }

    private func fail(_ demand: Failure.Demand, _ details: String) {
        failures.append(Failure(demand: demand, details: details))
    }
}

/// Where the files of a run lie.
enum Folder {
    /// In memory where the machine has such a folder: nothing here is about losing power.
    static let fast: URL = {
        let memory = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()
}
