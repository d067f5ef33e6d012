import CloudKit
import CloudService
import CloudStore
import CloudWire
import Foundation
import Simulation
import System

/// The service, its file, and the wires to it: all in direct calls, with faults where the seed wants them.
final class SimulatedCloud {
    static let user = ServiceUser(userRecordName: "_ada")
    static let token = "ada's token"
    static let zone = ZoneKey(database: .privateDatabase(of: user.userRecordName), zoneName: "todos")
    static let otherZone = ZoneKey(database: zone.database, zoneName: "others")

    /// What a busy service asks to wait.
    static let retryAfterSeconds = 3.0

    let clock = ManualTimeSource()
    let random: SeededRandomSource
    var trace = Trace()
    var ledger = Ledger()
    var sabotage: Sabotage?
    /// Faults happen only while this is true.
    var isStormy = true
    /// How often each fault happened.
    private(set) var firings = [Fault: Int]()
    /// What no correct device does, seen on the wire.
    private(set) var violations = [String]()
    private(set) var requests = [[String: Int]]()
    private var deadDevices = Set<Int>()
    private var unanswered = [Int: [(Result<WireResponse, CKError>) -> Void]]()
    /// Called in the middle of a request that writes: after the device sent it, before it has the answer.
    var whileInFlight: ((_ device: Int) throws -> Void)?

    private let scenario: Scenario
    private let path: String
    private var store: any CloudStore
    private var service: CloudService
    private var backup: [Data?]?
    /// How far the change log of each zone was read.
    private var observedCounters: [Int64]
    private var watch = TagWatch()

    init(_ scenario: Scenario, path: String, random: SeededRandomSource) throws {
        self.scenario = scenario
        self.path = path
        self.random = random
        observedCounters = scenario.hasOthers ? [0, 0] : [0]
        (store, service) = try Self.open(path, scenario, clock, random)
    }

    /// The zone of each database.
    var servers: [ServerColumn] {
        [Self.zone, Self.otherZone].prefix(observedCounters.count).map {
            ServerColumn(store: store, zone: $0)
        }
    }

    /// The live records of all zones as items.
    func todos() throws -> [String: Todo] {
        try servers.reduce(into: [:]) { todos, server in
            todos.merge(try server.todos()) { first, _ in first }
        }
    }

    /// Notes what no correct device does.
    func check(_ isRight: Bool, _ violation: @autoclosure () -> String) {
        if !isRight { violations.append(violation()) }
    }

    /// Ends the service and starts it from its file.
    private func restart() throws {
        trace.note("service restarts")
        (store, service) = try Self.open(path, scenario, clock, random)
    }

    /// What the service's keeper may do between two requests.
    func maintain() throws {
        let user = Self.user.userRecordName
        let zones = servers.map(\.zone.zoneName)
        if fires(.serviceRestart) { try restart() }
        if fires(.expiredTokens) {
            trace.note("service prunes tombstones")
            for zone in zones { try service.zoneMaintenance.pruneTombstones(zoneName: zone, ofUser: user) }
        }
        if fires(.resetZone) {
            trace.note("service resets the zone")
            for zone in zones { try service.zoneMaintenance.resetEpoch(zoneName: zone, ofUser: user) }
        }
        guard let backup else { return backUp() }
        if fires(.restoredBackup) {
            trace.note("service is restored")
            try putBack(backup)
            for zone in zones {
                try service.zoneMaintenance.resetEpoch(zoneName: zone, ofUser: user, includesDeleted: true)
            }
            observedCounters = try servers.map { try $0.rows(after: 0).last?.counter ?? 0 }
            watch = TagWatch()
            ledger.serverWasRestored()
            backUp()
        } else if random.next(in: 0..<10) == 0 {
            backUp()
        }
    }

    private func backUp() {
        backup = files()
    }

    /// The service's file and its log.
    private func files() -> [Data?] {
        ["", "-wal"].map { try? Data(contentsOf: URL(filePath: path + $0)) }
    }

    /// Starts the service from its file as it was.
    private func putBack(_ files: [Data?]) throws {
        store = MemoryCloudStore()
        service = CloudService(store: store, clock: clock, random: random)
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        for (suffix, file) in zip(["", "-wal"], files) { try file?.write(to: URL(filePath: path + suffix)) }
        (store, service) = try Self.open(path, scenario, clock, random)
    }

    /// Whether the fault is to happen now; counts it.
    func fires(_ fault: Fault) -> Bool {
        guard isStormy, random.next(in: 0..<1000) < scenario.rates[fault, default: 0] else { return false }
        firings[fault, default: 0] += 1
        return true
    }

    func forgetRequests() {
        requests = Array(repeating: [:], count: scenario.devicesCount)
    }

    /// Whether the device's process ended while a request was under way.
    func isDead(_ device: Int) -> Bool { deadDevices.contains(device) }

    func revive(_ device: Int) {
        deadDevices.remove(device)
    }

    /// Cuts the device's process off, which has ended.
    func bury(_ device: Int) {
        deadDevices.insert(device)
        for completion in unanswered.removeValue(forKey: device) ?? [] {
            completion(.failure(Self.noNetwork))
        }
    }

    private static let noNetwork = CKError(.networkUnavailable, "simulated")

    /// Takes a request of a device to the service and the answer back, to `completion` if the device lives to see it.
    func carry(
        _ request: WireRequest, from device: Int,
        completion: @escaping (Result<WireResponse, CKError>) -> Void
    ) {
        if isDead(device) { return completion(.failure(Self.noNetwork)) }
        if let answer = carry(request, from: device) {
            completion(answer)
        } else {
            unanswered[device, default: []].append(completion)
        }
    }

    private func carry(_ request: WireRequest, from device: Int) -> Result<WireResponse, CKError>? {
        do {
            return try carried(request, from: device)
        } catch {
            violations.append("the harness failed: \(error)")
            return .failure(CKError(.internalError, "\(error)"))
        }
    }

    private func carried(_ original: WireRequest, from device: Int) throws -> Result<WireResponse, CKError>? {
        // No two requests come at the same time.
        clock.advance(bySeconds: 0.001)
        let kind = original.path.split(separator: "/").suffix(2).joined(separator: "/")
        let request = try sabotage?.request(original, kind, device) ?? original
        if requests.isEmpty { forgetRequests() }
        requests[device][kind, default: 0] += 1
        note(device, kind, "sends", request.body)
        if fires(.lostRequest) {
            note(device, kind, "request lost", [])
            return .failure(Self.noNetwork)
        }
        if kind == "records/modify" {
            for violation in try watch.see(request, from: device) {
                trace.note(violation)
                violations.append(violation)
            }
            try whileInFlight?(device)
        }
        if fires(.busyService) {
            note(device, kind, "service busy", [])
            return .success(try busyAnswer())
        }
        var response = try respond(request, kind)
        if fires(.duplicatedRequest) {
            let second = try respond(request, kind)
            note(device, kind, "duplicated", second.body)
            if random.next(in: 0..<2) == 0 { response = second }
        }
        if fires(.deathInFlight) {
            note(device, kind, "dies", response.body)
            deadDevices.insert(device)
            return nil
        }
        if fires(.lostReply) {
            note(device, kind, "reply lost", response.body)
            return .failure(CKError(.networkFailure, "simulated"))
        }
        response = try sabotage?.response(response, kind, device) ?? response
        if kind == "records/modify" { try watch.see(response, to: request, device: device) }
        note(device, kind, "gets \(response.status)", response.body)
        return .success(response)
    }

    private func respond(_ request: WireRequest, _ kind: String) throws -> WireResponse {
        guard let sabotage, sabotage.dropsWrite(kind) else {
            let response = service.respond(to: request)
            try observe()
            return response
        }
        // The service answers, and its file is put back to what it was: an acknowledged write that wasn't kept.
        let before = files()
        let response = service.respond(to: request)
        try putBack(before)
        return response
    }

    /// Reads what the service has written since the last time into the ledger.
    private func observe() throws {
        for (index, server) in servers.enumerated() {
            for row in try server.rows(after: observedCounters[index]) {
                observedCounters[index] = row.counter
                try observe(row)
            }
        }
    }

    private func observe(_ row: StoredRecord) throws {
        let name = row.key.recordName
        if row.isDeleted {
            ledger.serverDeleted(record: name)
            watch.deleted(record: name, at: row.counter)
        } else {
            let values = try ServerColumn.todo(of: row).trackedValues
            ledger.serverHas(
                record: name, fields: values.filter { !name.hasPrefix(Keys.note) || $0.field == "text" })
        }
    }

    private func busyAnswer() throws -> WireResponse {
        let code = [ServerErrorCode.tryAgainLater, .throttled, .zoneBusy][random.next(in: 0..<3)]
        let error = WireError(code, reason: "simulated", retryAfterSeconds: Self.retryAfterSeconds)
        return WireResponse(
            status: code.httpStatus, headers: [(WireHeader.protocolVersion, "1")], body: try error.json())
    }

    private func note(_ device: Int, _ kind: String, _ what: String, _ bytes: [UInt8]) {
        var hash = Trace()
        hash.note(String(decoding: bytes, as: UTF8.self))
        trace.note("device \(device) \(kind) \(what) \(bytes.count) bytes \(hash.hashText)")
    }

    private static func open(
        _ path: String, _ scenario: Scenario, _ clock: ManualTimeSource, _ random: SeededRandomSource
    ) throws -> (any CloudStore, CloudService) {
        let store = try SQLiteCloudStore(path: path)
        var limits = ServiceLimits()
        limits.itemsWithExtrasMax = scenario.itemsMax
        let service = CloudService(
            store: store, clock: clock, random: random, users: [token: user], limits: limits)
        return (store, service)
    }
}

/// A device's way to the cloud.
final class SimulatedWire: Transport, @unchecked Sendable {
    // Sendable because a run and all that belongs to it live on the one thread that runs it.
    private unowned let cloud: SimulatedCloud
    private let device: Int

    init(_ cloud: SimulatedCloud, device: Int) {
        self.cloud = cloud
        self.device = device
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        cloud.carry(request, from: device, completion: completion)
        return {}
    }
}
