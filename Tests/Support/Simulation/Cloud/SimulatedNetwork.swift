import CloudKit
import CloudWire
import SQLiteTestSupport
import System

/// What lies between the devices and the service: it takes time, and does with a request what its faults say.
final class SimulatedNetwork: @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).

    typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void

    /// Whether the device no longer waits for an answer, as when its clock was set forward.
    final class Patience: @unchecked Sendable {
        // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
        var isOver = false
    }

    /// One request on its way.
    private struct Exchange {
        let device: Device
        let process: Process
        let kind: String
        let request: WireRequest
        /// The file that it carries, of a request that has no other meaning.
        var file: CarriedFile?
        let draws: Draws
        let sentMilliseconds: Int64
        let faults: [Fault: RequestFault]
        let patience: Patience
        let completion: Completion

        var faultNames: String { faults.keys.sorted().map(\.rawValue).joined(separator: " ") }
    }

    private unowned let world: World
    /// Milliseconds after which a device knows that it has no network.
    private static let offlineMilliseconds: Int64 = 1
    /// Milliseconds after which a device no longer waits for an answer.
    private static let patienceMilliseconds: Int64 = 60_000
    /// How many requests of each device are under way, waits for pushes not counted.
    private(set) var underWay: [Int: Int] = [:]
    /// How many requests the service has still to get, also from processes that are gone.
    private(set) var onTheirWayCount = 0
    private(set) var requests: [[String: Int]] = []
    /// How many changes the server's history had when it answered the fetch of a zone that each device heard the end of
    /// last, by device and zone. Zones of different apps count as one.
    private(set) var lastPages: [Int: [String: Int]] = [:]
    /// The same for what each device has taken in.
    private var takenIn: [Int: Shown] = [:]
    /// The same for pages that may still wait for the files of their records, by device, and by zone with the token
    /// that the device sends when it has taken the page in.
    private var heard: [Int: [String: (token: String?, shown: Shown)]] = [:]

    /// How many changes the server's history had when it answered with the end of a zone, or with a record.
    private struct Shown {
        var zones: [String: Int] = [:]
        var records: [String: Int] = [:]

        mutating func formUnion(_ other: Shown) {
            zones.merge(other.zones) { $1 }
            records.merge(other.records) { $1 }
        }
    }

    init(_ world: World) {
        self.world = world
        forgetRequests()
    }

    func forgetRequests() {
        requests = Array(repeating: [:], count: world.plan.devicesCount)
    }

    // MARK: From a device

    func send(
        _ request: WireRequest, from device: Device, _ process: Process, _ patience: Patience,
        _ completion: @escaping Completion
    ) {
        guard !process.isDead, !device.disk.isDead else { return completion(.failure(Self.noNetwork)) }
        if SimulatedCourier.isWait(request) { return wait(request, device, process, completion) }
        let kind = request.path.split(separator: "/").suffix(2).joined(separator: "/")
        do {
            let sent = try world.sabotage?.request(request, kind, device.index) ?? request
            try send(sent, kind, device, process, patience, completion)
        } catch {
            world.harnessFailed(error)
            completion(.failure(Self.noNetwork))
        }
    }

    func carry(
        _ request: FileRequest, from device: Device, _ process: Process, _ patience: Patience,
        _ completion: @escaping Completion
    ) {
        guard !process.isDead, !device.disk.isDead else { return completion(.failure(Self.noNetwork)) }
        do {
            let file = try CarriedFile(request)
            let kind = file.upload == nil ? "file/fetch" : "file/send"
            try send(
                WireRequest(path: "/" + kind), kind, device, process, patience, completion, file: file)
        } catch {
            world.harnessFailed(error)
            completion(.failure(Self.noNetwork))
        }
    }

    private func send(
        _ request: WireRequest, _ kind: String, _ device: Device, _ process: Process, _ patience: Patience,
        _ completion: @escaping Completion, file: CarriedFile? = nil
    ) throws {
        requests[device.index][kind, default: 0] += 1
        let name = device.nextRequestName()
        let draws = world.draws.named("device \(name.device) step \(name.step) request \(name.request)")
        if kind == "records/modify" {
            for violation in try world.service.see(request, from: device.index) { world.violated(violation) }
        }
        let number = (underWay[device.index] ?? 0) + 1
        underWay[device.index] = number
        let exchange = Exchange(
            device: device, process: process, kind: kind, request: request, file: file, draws: draws,
            sentMilliseconds: world.queue.nowMilliseconds,
            faults: world.faults(of: name, kind, draws) { Self.keys(of: request) }, patience: patience
        ) { [unowned self] in
            if !process.isDead { underWay[device.index, default: 0] -= 1 }
            completion($0)
        }
        let bytesCount = file?.upload?.count ?? request.body.count
        world.note(device, "sends \(kind) \(bytesCount) bytes", held: exchange.faultNames)
        if kind == "changes/zone" { takeIn(device.index, request) }
        leave(exchange)
    }

    /// The records that an upload brings, each once.
    private static func keys(of upload: WireRequest) -> [String] {
        var keys: [String] = []
        for operation in (try? RecordsModifyRequest(json: upload.body).operations) ?? [] {
            guard let name = operation.record.recordName, !keys.contains(name) else { continue }
            keys.append(name)
        }
        return keys
    }

    private func leave(_ exchange: Exchange) {
        guard world.queue.nowMilliseconds >= exchange.device.offlineUntilMilliseconds else {
            return fail(exchange, after: Self.offlineMilliseconds, Self.noNetwork)
        }
        if let fault = exchange.faults[.editInFlight] {
            world.queue.schedule(after: fault.milliseconds, for: exchange.process.owner) { [unowned self] in
                world.attempt { try exchange.device.commit(fault.edits ?? []) }
            }
        }
        if let fault = exchange.faults[.lostRequest] { return lose(exchange, fault) }
        var latency = world.latencyMilliseconds(exchange.draws, "there")
        latency += exchange.faults[.lateRequest]?.milliseconds ?? 0
        if let fault = exchange.faults[.overtakenConflict] {
            latency += fault.milliseconds
            edit(on: neighbour(of: exchange), fault.edits, after: 1)
        }
        arrive(exchange, after: latency, isFirst: true)
        if let fault = exchange.faults[.duplicatedRequest] {
            arrive(exchange, after: latency + fault.milliseconds, isFirst: false)
        }
    }

    private func arrive(_ exchange: Exchange, after milliseconds: Int64, isFirst: Bool) {
        onTheirWayCount += 1
        world.queue.schedule(after: milliseconds) { [unowned self] in
            onTheirWayCount -= 1
            arrive(exchange, isFirst: isFirst)
        }
    }

    // MARK: At the service

    private func arrive(_ exchange: Exchange, isFirst: Bool) {
        do {
            let response = try response(to: exchange, isFirst: isFirst)
            // Of two answers the device gets the one that the fault says.
            let wantsSecond = exchange.faults[.duplicatedRequest]?.variant == true
            guard isFirst != wantsSecond else { return }
            guard let response else {
                return fail(
                    exchange, after: world.latencyMilliseconds(exchange.draws, "back"),
                    CKError(.networkFailure, "simulated: the connection was refused"))
            }
            answer(exchange, response)
        } catch {
            world.harnessFailed(error)
        }
    }

    private func response(to exchange: Exchange, isFirst: Bool) throws -> WireResponse? {
        if let fault = exchange.faults[.busyService], isFirst {
            let codes: [ServerErrorCode] = [.tryAgainLater, .throttled, .zoneBusy]
            return try world.service.busyAnswer(codes[Int(fault.milliseconds) % codes.count])
        }
        if world.service.throttledUntilMilliseconds > world.queue.nowMilliseconds {
            return try world.service.busyAnswer(.throttled)
        }
        if let file = exchange.file { return try world.service.carry(file) }
        world.ledger.servesLate = exchange.process.isDead || !isHeard(exchange)
        defer { world.ledger.servesLate = false }
        return try world.service.respond(to: exchange.request, exchange.kind)
    }

    private func answer(_ exchange: Exchange, _ response: WireResponse) {
        if exchange.faults[.deathInFlight] != nil, !exchange.process.isDead {
            return exchange.device.disk.die()
        }
        guard !exchange.process.isDead else { return }
        if let fault = exchange.faults[.lostReply] {
            // A part of a file may have come.
            return lose(exchange, fault) { [unowned self] in
                guard isHeard(exchange) else { return }
                exchange.file?.take(response, bytesMax: response.body.count / 2)
            }
        }
        var latency = world.latencyMilliseconds(exchange.draws, "back")
        latency += exchange.faults[.lateReply]?.milliseconds ?? 0
        if let fault = exchange.faults[.overtakenReply] {
            latency += fault.milliseconds
            overtake(exchange, fault.edits, within: latency)
        }
        if let fault = exchange.faults[.overtakenConflict] {
            latency += 2 * fault.milliseconds
            overtake(exchange, fault.laterEdits, within: latency)
        }
        let historyCount = world.ledger.historyCount
        world.queue.schedule(after: latency, for: exchange.process.owner) { [unowned self] in
            let isHeard = isHeard(exchange)
            world.attempt { try deliver(exchange, response, isHeard: isHeard) }
            if isHeard { noteShown(response, exchange, historyCount) }
        }
    }

    /// Another device edits and syncs, and then the one that waits for the answer fetches.
    private func overtake(_ exchange: Exchange, _ edits: [KeyedEdit]?, within milliseconds: Int64) {
        edit(on: neighbour(of: exchange), edits, after: milliseconds / 3)
        world.queue.schedule(after: milliseconds * 2 / 3, for: exchange.process.owner) {
            exchange.device.app?.sync()
        }
    }

    private func neighbour(of exchange: Exchange) -> Device {
        world.devices[world.neighbour(of: exchange.device.index)]
    }

    /// A person edits on another device, which then syncs.
    private func edit(on other: Device, _ edits: [KeyedEdit]?, after milliseconds: Int64) {
        world.queue.schedule(after: milliseconds) { [unowned self] in
            guard world.isStormy else { return }
            world.attempt(orExcusedBy: other.isDiskFaulty) {
                try other.commit(edits ?? [])
                other.app?.sync()
            }
        }
    }

    /// Whether the device still waits for the answer.
    private func isHeard(_ exchange: Exchange) -> Bool {
        let took = world.queue.nowMilliseconds - exchange.sentMilliseconds
        return !exchange.patience.isOver && took < Self.patienceMilliseconds
    }

    /// Notes what an answer shows of a history that had so many changes.
    private func noteShown(_ response: WireResponse, _ exchange: Exchange, _ historyCount: Int) {
        guard response.status == 200 else { return }
        let device = exchange.device.index
        func shown(_ results: [RecordResult]) -> Shown {
            let names = results.compactMap(Self.shownRecord)
            return Shown(records: Dictionary(names.map { ($0, historyCount) }) { $1 })
        }
        switch exchange.kind {
        case "records/modify":
            let records = (try? RecordsResponse(json: response.body))?.records ?? []
            takenIn[device, default: Shown()].formUnion(shown(records.filter(\.isConflict)))
        case "changes/zone":
            for zone in (try? ChangesZoneResponse(json: response.body))?.zones ?? [] {
                guard case .changes(let page) = zone else {
                    // Its token is refused.
                    world.ledger.startedOver(device: device)
                    continue
                }
                var pageShown = shown(page.records)
                // Of what a later page has, the device knows nothing yet.
                if page.moreComing != true {
                    let zone =
                        world.plan.scenario.hasSecondZone ? page.zoneID.zoneName : SimulatedService.zoneName
                    lastPages[device, default: [:]][zone] = historyCount
                    pageShown.zones[zone] = historyCount
                }
                guard world.plan.scenario.hasFiles else {
                    // Without files nothing is waited for.
                    takenIn[device, default: Shown()].formUnion(pageShown)
                    continue
                }
                heard[device, default: [:]][page.zoneID.zoneName] = (page.syncToken, pageShown)
            }
        default: break
        }
    }

    /// A device that asks for what follows a page has taken that page in.
    private func takeIn(_ device: Int, _ request: WireRequest) {
        for zone in (try? ChangesZoneRequest(json: request.body))?.zones ?? [] {
            let name = zone.zoneID.zoneName
            guard let page = heard[device]?[name], page.token == zone.syncToken else { continue }
            takenIn[device, default: Shown()].formUnion(page.shown)
            heard[device]?[name] = nil
        }
    }

    private static func shownRecord(_ result: RecordResult) -> String? {
        switch result {
        case .record(let record): record.recordName
        case .tombstone(let tombstone): tombstone.recordName
        case .error(let error): error.serverRecord?.recordName
        }
    }

    /// How many changes of the server's history a device can know of a record.
    func historyCount(knownTo device: Int, of record: String) -> Int {
        let isInSecond = world.plan.scenario.hasSecondZone && Keys.isInSecondZone(record)
        let zone = isInSecond ? SimulatedService.secondZoneName : SimulatedService.zoneName
        let shown = takenIn[device] ?? Shown()
        return max(shown.zones[zone] ?? 0, shown.records[record] ?? 0)
    }

    private func deliver(_ exchange: Exchange, _ original: WireResponse, isHeard: Bool) throws {
        let (device, kind) = (exchange.device, exchange.kind)
        let response = try world.sabotage?.response(original, kind, device.index) ?? original
        if kind == "records/modify", isHeard {
            try world.service.see(response, to: exchange.request, device: device.index)
        }
        if kind == "changes/zone", device.kind.handler != nil {
            try world.service.see(page: response, to: exchange.request, device: device.index)
        }
        world.note(device, "gets \(kind) \(response.status) \(response.body.count) bytes")
        guard let file = exchange.file, file.sink != nil else {
            return exchange.process.run { exchange.completion(.success(response)) }
        }
        exchange.process.run {
            guard isHeard else { return exchange.completion(.failure(Self.noNetwork)) }
            file.take(response)
            var response = response
            if response.status < 300 { response.body = [] }
            exchange.completion(.success(response))
        }
    }

    /// The device is told that the network failed, or hears nothing until its time is over.
    private func lose(_ exchange: Exchange, _ fault: RequestFault, _ before: @escaping () -> Void = {}) {
        if fault.variant {
            underWay[exchange.device.index, default: 0] -= 1
        } else {
            fail(exchange, after: fault.milliseconds, CKError(.networkFailure, "simulated: lost"), before)
        }
    }

    private func fail(
        _ exchange: Exchange, after milliseconds: Int64, _ error: CKError,
        _ before: @escaping () -> Void = {}
    ) {
        world.queue.schedule(after: milliseconds, for: exchange.process.owner) { [unowned self] in
            world.note(exchange.device, "gets no answer to \(exchange.kind)")
            before()
            exchange.process.run { exchange.completion(.failure(error)) }
        }
    }

    /// The device's process is gone, and what it had under way.
    func forget(_ device: Device) {
        underWay[device.index] = 0
        heard[device.index] = nil
    }

    private static var noNetwork: CKError { CKError(.networkUnavailable, "simulated: no network") }

    // MARK: Pushes

    private func wait(
        _ request: WireRequest, _ device: Device, _ process: Process, _ completion: @escaping Completion
    ) {
        guard world.queue.nowMilliseconds >= device.offlineUntilMilliseconds else {
            world.queue.schedule(after: Self.offlineMilliseconds, for: process.owner) {
                process.run { completion(.failure(Self.noNetwork)) }
            }
            return
        }
        let faults = world.pushFaults(of: device)
        let wait = SimulatedCourier.Wait(token: request.queryItem("token") ?? "") { [unowned self] response in
            push(response, faults, process, completion)
        }
        let queue = world.queue
        // An acknowledgement that is lost brings the push again.
        let acknowledged = faults[.repeatedPush] == nil ? request.queryItem(WireHeader.afterItem) : nil
        queue.schedule(after: 1) { [unowned self] in
            world.attempt { try world.service.wait(wait, acknowledging: acknowledged) }
        }
        queue.schedule(after: SimulatedCourier.holdMilliseconds) { [unowned self] in
            if world.service.courier.take(wait) { wait.end(WireResponse(status: 200)) }
        }
    }

    private func push(
        _ response: WireResponse?, _ faults: [Fault: RequestFault], _ process: Process,
        _ completion: @escaping Completion
    ) {
        guard let response, faults[.lostPush] == nil else {
            world.queue.schedule(after: 1, for: process.owner) {
                process.run { completion(.failure(CKError(.networkFailure, "simulated: cut"))) }
            }
            return
        }
        let late = faults[.latePush]?.milliseconds ?? 1
        world.queue.schedule(after: late, for: process.owner) {
            process.run { completion(.success(response)) }
        }
    }
}

/// A process's way to the cloud.
final class SimulatedWire: Transport, @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
    private unowned let network: SimulatedNetwork
    private unowned let device: Device
    private let process: Process

    init(_ network: SimulatedNetwork, _ device: Device, _ process: Process) {
        self.network = network
        self.device = device
        self.process = process
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let patience = SimulatedNetwork.Patience()
        network.send(request, from: device, process, patience, completion)
        return { patience.isOver = true }
    }

    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let patience = SimulatedNetwork.Patience()
        network.carry(file, from: device, process, patience, completion)
        return { patience.isOver = true }
    }
}

extension RecordResult {
    fileprivate var isConflict: Bool { if case .error = self { true } else { false } }
}
