import CloudKit
import Foundation
import System
import YapCloudKit

/// One run: devices of a user and their cloud, one event at a time, in the order of simulated time. First everything
/// may fail; then faults end, and all must become equal.
package final class World {
    let plan: Plan
    let draws: Draws
    let queue = EventQueue()
    let sabotage: Sabotage?
    var ledger = Ledger()
    /// The bytes of all files that persons have added, by their names in the ledger.
    var files: [String: [UInt8]] = [:]
    private(set) lazy var network = SimulatedNetwork(self)
    private var startedService: SimulatedService?
    private(set) var devices: [Device] = []
    private var trace: Trace
    private var failures: [Failure] = []
    private var firings: [Fault: Int] = [:]
    /// Faults happen only while this is true.
    private(set) var isStormy = true
    private var faultsToCome: [RequestFault.Name: [RequestFault]]?
    private var faultsThatHappened: [RequestFault] = []
    private var ownersCount = 0
    private var eventsCount = 0
    private let watches: Bool
    /// What was wrong already, by device.
    private var seenWrong: [Int: [String]] = [:]
    private var toldLies = 0
    /// Whether more than one user's objects are on the devices.
    let usesAccounts: Bool

    /// Runs a plan.
    /// - Parameters:
    ///   - keepsTrace: Whether the outcome tells what happened.
    ///   - watches: Whether to look after each event for the first moment at which something is wrong.
    ///   - sabotage: A mutant that must be seen.
    package static func run(
        _ plan: Plan, keepsTrace: Bool = false, watches: Bool = false, sabotage: Sabotage? = nil
    ) throws -> Outcome {
        let folder = Folder.fast.appending(path: "yap-simulation-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let world = World(plan, keepsTrace: keepsTrace, watches: watches, sabotage)
        return try world.run(folder)
    }

    private init(_ plan: Plan, keepsTrace: Bool, watches: Bool, _ sabotage: Sabotage?) {
        self.watches = watches
        self.plan = plan
        self.sabotage = sabotage
        draws = Draws(seed: plan.seed).named("run")
        trace = Trace(isKept: keepsTrace)
        faultsToCome = plan.faults.map { Dictionary(grouping: $0, by: \.name) }
        usesAccounts = plan.steps.contains { if case .signIn = $0.action { true } else { false } }
    }

    private func run(_ folder: URL) throws -> Outcome {
        defer { queue.removeAll() }
        startedService = try SimulatedService(self, path: folder.appending(path: "cloud.sqlite").path)
        ledger.foldingDevices = Set(plan.scenario.devices.indices.filter { plan.scenario.devices[$0].folds })
        devices = plan.scenario.devices.enumerated().map { index, kind in
            Device(index, kind, path: folder.appending(path: "device\(index).sqlite").path, self)
        }
        for device in devices { try device.start() }
        storm()
        let rounds = heal()
        if failures.isEmpty { attempt { try check() } }
        for device in devices { attempt { try device.end() } }
        attempt { try service.end() }
        return outcome(rounds)
    }

    private func outcome(_ rounds: Int) -> Outcome {
        var kept = plan
        kept.faults = plan.faults ?? faultsThatHappened
        return Outcome(
            plan: kept, trace: trace, failures: failures, firings: firings,
            acknowledgedWrites: ledger.historyCount, localCommits: ledger.commits.count,
            healingRounds: rounds,
            simulatedMilliseconds: queue.nowMilliseconds - Self.startMilliseconds, events: eventsCount,
            dropsByRule: ledger.dropsByRule)
    }

    private static let startMilliseconds = ManualTimeSource().nowMilliseconds()

    var service: SimulatedService {
        guard let startedService else { preconditionFailure("the service starts before the devices") }
        return startedService
    }

    func nextOwner() -> EventQueue.Owner {
        ownersCount += 1
        return ownersCount
    }

    // MARK: The storm

    private func storm() {
        for step in plan.steps {
            queue.schedule(after: step.atMilliseconds) { [unowned self] in take(step) }
        }
        let end = queue.nowMilliseconds + (plan.steps.last?.atMilliseconds ?? 0) + 1
        while next(untilMilliseconds: end) {}
    }

    /// Lets the next event happen, and machines that died over it be dead.
    private func next(untilMilliseconds limit: Int64) -> Bool {
        guard failures.count < Self.failuresMax, queue.step(untilMilliseconds: limit) else { return false }
        eventsCount += 1
        if eventsCount == Self.eventsMax { fail(.comesToAnEnd, "after \(eventsCount) events") }
        if eventsCount > Self.eventsMax { return false }
        for device in devices { attempt { try device.noticeDeath() } }
        service.noticeDeath()
        for device in devices { attempt(orExcusedBy: device.isDiskFaulty) { try seeRest(of: device) } }
        if watches { watch() }
        return true
    }

    /// What was committed is sent without anything else that happens: no device says it is idle while something waits.
    private func seeRest(of device: Device) throws {
        // The queue of a user who signed out waits until that user is back.
        let count = usesAccounts ? 0 : try device.pendingAtRest()
        guard count > 0 else { return }
        fail(.queuesEmpty, "device \(device.index) says it is idle, and \(count) change-sets wait")
    }

    /// Tells the first moment at which a device that is idle, and has seen all that the server has, holds something
    /// else, and at which a merge log says what can't be.
    private func watch() {
        for lie in ledger.lies.dropFirst(toldLies) { note("world", "WRONG from here on: \(lie)") }
        toldLies = ledger.lies.count
        for device in devices {
            guard let app = device.app, app.status.state == .idle, isSettled(device),
                device.hasSeenAll(network),
                let now = try? differences(of: device), now != seenWrong[device.index, default: []]
            else { continue }
            for difference in now { note("world", "WRONG from here on: \(difference)") }
            seenWrong[device.index] = now
        }
    }

    private static let failuresMax = 20
    /// More than any run needs.
    private static let eventsMax = 3_000_000

    private func take(_ step: Step) {
        guard isStormy else { return }
        guard let index = step.device else { return attempt { try takeOfService(step.action) } }
        let device = devices[index]
        device.began(step)
        attempt(orExcusedBy: device.isDiskFaulty) { try take(step.action, device) }
    }

    private func take(_ action: Action, _ device: Device) throws {
        switch action {
        case .edit(let edits): try device.commit(edits)
        case .sync:
            note(device, "syncs")
            device.app?.sync()
        case .background(let milliseconds):
            fired(.background)
            device.app?.background()
            queue.schedule(after: milliseconds) { [unowned self] in
                if isStormy { attempt { try device.app?.foreground() } }
            }
        case .otherProcess(let edits):
            fired(.otherProcess)
            try device.editInOtherProcess(edits)
        case .signIn(let user):
            fired(.accountSwitch)
            try device.signIn(user: user)
        case .restart:
            fired(.deviceRestart)
            try device.restart()
        case .kill(let nth, let losesPower): device.die(atChange: nth, losesPower: losesPower)
        case .stall(let milliseconds):
            fired(.stall)
            note(device, "stands still for \(milliseconds) ms")
            device.stall(milliseconds: milliseconds)
        case .partition(let milliseconds):
            fired(.partition)
            note(device, "has no network for \(milliseconds) ms")
            device.offlineUntilMilliseconds = queue.nowMilliseconds + milliseconds
        case .diskFull(let milliseconds, let bytesLeft):
            fired(.diskFull)
            note(device, "has a full disk for \(milliseconds) ms")
            device.limitDisk(bytesLeft: bytesLeft)
            queue.schedule(after: milliseconds) { device.mendDisk() }
        case .failingSyncs(let milliseconds):
            fired(.failingSyncs)
            note(device, "has failing syncs for \(milliseconds) ms")
            device.failSyncs()
            queue.schedule(after: milliseconds) { device.mendDisk() }
        case .clockStep(let milliseconds):
            fired(.clockStep)
            note(device, "sets its clock by \(milliseconds) ms")
            device.clock.step(byMilliseconds: milliseconds)
        case .fetchFiles: try device.app?.fetchFiles()
        case .aDayPasses(let emptiesCache): try device.letADayPass(emptiesCache: emptiesCache)
        case .install(let version):
            fired(version == 1 ? .downgrade : .upgrade)
            try device.install(version: version)
        case .throttle, .pruneTombstones, .resetZones, .deleteZone, .backUp, .restoreBackup, .collectFiles:
            break
        }
    }

    private func takeOfService(_ action: Action) throws {
        switch action {
        case .restart:
            fired(.serviceRestart)
            try service.restart()
        case .kill(let nth, let losesPower): service.die(atChange: nth, losesPower: losesPower)
        case .diskFull(let milliseconds, let bytesLeft):
            fired(.serviceDiskFull)
            service.limitDisk(bytesLeft: bytesLeft)
            queue.schedule(after: milliseconds) { [unowned self] in service.mendDisk() }
        case .throttle(let milliseconds):
            fired(.throttling)
            service.throttle(milliseconds: milliseconds)
        case .pruneTombstones:
            fired(.expiredTokens)
            try service.pruneTombstones()
        case .resetZones:
            fired(.resetZone)
            try service.resetZones()
        case .deleteZone:
            fired(.deletedZone)
            try service.deleteZone()
        case .collectFiles: try service.collectFiles()
        case .backUp: service.backUp()
        case .restoreBackup: try service.restoreBackup()
        default: break
        }
    }

    // MARK: What requests meet

    func fired(_ fault: Fault) {
        if isStormy { firings[fault, default: 0] += 1 }
    }

    func latencyMilliseconds(_ draws: Draws, _ name: String) -> Int64 {
        Int64(draws.number(in: 1..<plan.scenario.latencyMillisecondsMax + 2, name))
    }

    /// The faults of a request.
    /// - Parameter keys: What an upload brings.
    func faults(
        of name: RequestFault.Name, _ kind: String, _ draws: Draws, keys: () -> [String]
    ) -> [Fault: RequestFault] {
        faults(of: name, Fault.ofRequests, draws, keys: keys) {
            !Fault.ofUploads.contains($0) || kind == "records/modify"
        }
    }

    /// The faults of a wait for pushes.
    func pushFaults(of device: Device) -> [Fault: RequestFault] {
        let name = device.nextPushName()
        let draws = draws.named("device \(name.device) step \(name.step) push \(name.request)")
        return faults(of: name, Fault.ofPushes, draws) { _ in true }
    }

    private func faults(
        of name: RequestFault.Name, _ candidates: [Fault], _ draws: Draws,
        keys: () -> [String] = { [] }, _ isMeant: (Fault) -> Bool
    ) -> [Fault: RequestFault] {
        guard isStormy else { return [:] }
        var faults: [Fault: RequestFault] = [:]
        if let faultsToCome {
            for fault in faultsToCome[name] ?? [] { faults[fault.fault] = fault }
        } else {
            for fault in candidates
            where isMeant(fault)
                && draws.happens(
                    perMille: plan.scenario.rates[fault, default: 0], fault.rawValue)
            { faults[fault] = drawn(fault, name, draws.named(fault.rawValue), keys) }
            faultsThatHappened += faults.values.sorted { $0.fault < $1.fault }
        }
        for fault in faults.keys { fired(fault) }
        return faults
    }

    private func drawn(
        _ fault: Fault, _ name: RequestFault.Name, _ draws: Draws, _ keys: () -> [String]
    ) -> RequestFault {
        if fault == .overtakenConflict { return overtakenConflict(name, draws, keys: keys()) }
        // Now and then longer than the device waits for an answer.
        let isLong = draws.number(in: 0..<10, "is long") == 0
        let most = fault == .editInFlight ? plan.scenario.latencyMillisecondsMax + 2 : isLong ? 90_000 : 5_000
        var drawn = RequestFault(
            name: name, fault: fault, milliseconds: Int64(draws.number(in: 1..<most + 1, "milliseconds")),
            variant: draws.number(in: 0..<2, "variant") == 0)
        if Fault.ofUploads.contains(fault) {
            let number = Self.editNumber(of: name, from: fault == .editInFlight ? 1_000_000 : 100_000_000)
            let device = fault == .editInFlight ? name.device : neighbour(of: name.device)
            drawn.edits = EditDrawing(scenario: plan.scenario).edits(draws, device: device, number: number)
        }
        return drawn
    }

    /// A number for the edits of a request's fault: beyond those of steps, and of other kinds of faults. No two
    /// requests have the same one: by their values the watch tells edits apart.
    package static func editNumber(of name: RequestFault.Name, from first: Int) -> Int {
        let (hundreds, rest) = name.request.quotientAndRemainder(dividingBy: 100)
        return hundreds * 1_000_000_000 + first + (name.step + 1) * 1_000 + name.device * 100 + rest
    }

    private func overtakenConflict(
        _ name: RequestFault.Name, _ draws: Draws, keys: [String]
    ) -> RequestFault {
        let keys = Array(keys.prefix(3))
        // Long enough for the other device to save, and for this one to fetch.
        let milliseconds =
            10 * plan.scenario.latencyMillisecondsMax + draws.number(in: 1..<2_001, "milliseconds")
        let number = Self.editNumber(of: name, from: 200_000_000)
        let editing = EditDrawing(scenario: plan.scenario)
        return RequestFault(
            name: name, fault: .overtakenConflict, milliseconds: Int64(milliseconds),
            edits: editing.edits(of: keys, draws.named("before"), number: number),
            laterEdits: editing.edits(of: keys, draws.named("after"), number: number + 100_000_000),
            variant: false)
    }

    /// The device that edits while an answer to this one is late.
    func neighbour(of device: Int) -> Int { (device + 1) % plan.scenario.devices.count }

    // MARK: The calm

    /// How often each device may sync, faults gone, until all is equal.
    static let healingRoundsMax = 8
    /// How long a round may take.
    private static let roundMillisecondsMax: Int64 = 1_800_000

    /// - Returns: How many rounds it took.
    private func heal() -> Int {
        isStormy = false
        note("world", "heals")
        attempt { try service.heal() }
        for device in devices { attempt { try device.heal() } }
        for device in devices where device.version == 1 { attempt { try device.install(version: 2) } }
        letRequestsArrive()
        guard usesAccounts else { return heal(asUser: 0) }
        // What the second user's devices hold goes up first; whatever waits for the first one's is still kept.
        let rounds = heal(asUser: 1)
        return rounds + heal(asUser: 0)
    }

    /// What the storm delayed is over too: a request that comes after its device was silent is no noise of the device.
    private func letRequestsArrive() {
        let end = queue.nowMilliseconds + Self.roundMillisecondsMax
        while network.onTheirWayCount > 0, next(untilMilliseconds: end) {}
    }

    private func heal(asUser user: Int) -> Int {
        for device in devices { attempt { try device.signIn(user: user) } }
        for round in 1...Self.healingRoundsMax {
            fetchFiles()
            syncAll()
            guard failures.isEmpty else { return round }
            let isEqual = (try? differences().isEmpty) ?? false
            if isEqual, devices.allSatisfy({ isDone($0, asUser: user) }) { return round }
        }
        if user != 0 {
            attempt {
                for difference in try differences() { fail(.devicesEqualServer, difference) }
            }
        }
        return Self.healingRoundsMax
    }

    /// Fetches the files that devices lack, and gives up those that are nowhere.
    private func fetchFiles() {
        guard plan.scenario.hasFiles else { return }
        for device in devices { attempt { try device.app?.fetchFiles() } }
        settle()
        attempt {
            for device in devices {
                try device.giveUpFiles(onServer: try service.todos(ofUser: device.account.user))
            }
        }
    }

    private func isDone(_ device: Device, asUser user: Int) -> Bool {
        guard let status = device.app?.status else { return false }
        // The first user's changes may still wait while the second one is there.
        let waitsForAnother =
            status.state == .waiting && status.pause == .anotherAccount && status.pauseEndDate == nil
        return status.state == .idle || user != 0 && waitsForAnother
    }

    /// Lets every device sync until nothing is under way any more.
    private func syncAll() {
        for device in devices { device.app?.sync() }
        settle()
    }

    private func settle() {
        let end = queue.nowMilliseconds + Self.roundMillisecondsMax
        while !devices.allSatisfy(isSettled), next(untilMilliseconds: end) {}
    }

    func isSettled(_ device: Device) -> Bool {
        guard let app = device.app, app.process.waitingWorkCount == 0, !app.isBusy,
            network.underWay[device.index, default: 0] == 0
        else { return false }
        let status = app.status
        switch status.state {
        case .idle, .needsAttention: return true
        case .syncing: return false
        case .waiting: return status.pauseEndDate == nil
        }
    }

    // MARK: The demands

    private func differences() throws -> [String] {
        try devices.flatMap(differences)
    }

    private func differences(of device: Device) throws -> [String] {
        guard let app = device.app else { return ["device \(device.index) doesn't run"] }
        let server = try service.todos(ofUser: device.account.user).filter { app.has($0.key) }
        return TodoComparison([try app.todos(), server]).differences.map { row in
            let texts = row.todos.map { $0.map(\.short) ?? "absent" }
            return "\(row.key) is on device \(device.index) \(texts[0]), on the server \(texts[1])"
        }
    }

    private func check() throws {
        for difference in try differences() { fail(.devicesEqualServer, difference) }
        for device in devices {
            let status = device.app?.status
            if status?.state != .idle {
                fail(.queuesEmpty, "device \(device.index) is \(status.map { "\($0)" } ?? "not running")")
            }
        }
        try checkSilence()
        for device in devices {
            let count = try device.app?.differencesFound() ?? 0
            if count > 0 { fail(.checksumsAgree, "device \(device.index) found \(count) differences") }
        }
        for fault in ledger.overwrites.faults { fail(.everyValueAccountedFor, fault) }
        for lie in ledger.lies { fail(.mergeLogIsTrue, lie) }
        try checkTags()
        if plan.scenario.hasFiles { try checkFiles() }
        for commit in ledger.unaccounted {
            let value = commit.value
            fail(
                .everyValueAccountedFor,
                "device \(commit.device): \(value.record).\(value.field) = \(value.value)")
        }
        note("world", "is checked", held: "history \(ledger.historyCount), failures \(failures.count)")
    }

    /// Each tag that was added is in its list on the server, and by that on each device.
    private func checkTags() throws {
        let records = ledger.recordsWithTags
        guard !records.isEmpty else { return }
        var left: [String: [String]] = [:]
        for user in SimulatedService.users.indices {
            for (name, todo) in try service.todos(ofUser: user) {
                left[Self.ledgerKey(name, user: user)] = todo.tags
            }
        }
        for record in records {
            for tag in ledger.tagsLost(of: record, left: left[record] ?? []) {
                fail(.everyValueAccountedFor, "\(record) has lost \(tag), which nobody took out")
            }
        }
    }

    /// The files of all objects are on the server and on each device, and no others are.
    private func checkFiles() throws {
        try service.collectFiles()
        for (key, todo) in try service.todos(ofUser: 0).sorted(by: { $0.key < $1.key }) {
            for file in todo.files where service.bytes(ofFile: file) != files[file] {
                fail(.filesAreThere, "the server doesn't have \(file) of \(key)")
            }
        }
        for device in devices { try device.app?.fetchFiles() }
        settle()
        for device in devices {
            for wrong in try device.wrongFiles() { fail(.filesAreThere, wrong) }
        }
    }

    private func checkSilence() throws {
        let writes = ledger.historyCount
        // Each device hears the echo of what it sent last; after that there is nothing left to say.
        syncAll()
        network.forgetRequests()
        syncAll()
        for device in devices {
            // A fetch of each zone, one for a push of the last write, and one when a wait that was cut begins anew.
            let ofSecond = plan.scenario.hasSecondZone && device.kind.listens ? 2 : 0
            let fetchesMax = device.zonesCount + (device.kind.listens ? 2 : 0) + ofSecond
            for (kind, count) in network.requests[device.index].sorted(by: { $0.key < $1.key })
            where count > fetchesMax || kind == "records/modify" || kind == "zones/modify" {
                fail(.nothingLeftToSend, "device \(device.index) sent \(kind) \(count) times")
            }
        }
        if ledger.historyCount != writes { fail(.nothingLeftToSend, "the service wrote") }
    }

    // MARK: Telling

    /// Names a record in the ledger: two users' records of one name are two.
    static func ledgerKey(_ name: String, user: Int) -> String {
        user == 0 ? name : "\(SimulatedService.users[user])'s \(name)"
    }

    func merged(device: Int, _ entry: CloudMergeLogEntry, user: Int) {
        // An entry may be told when the next user is there already.
        let keys = [user, 1 - user].map { Self.ledgerKey(entry.recordID.recordName, user: $0) }
        let own = keys.first { ledger.isOwn(device: device, entry, record: $0) }
        ledger.merged(
            device: device, entry, record: own ?? keys[0], isByEarlierVersion: devices[device].version == 1)
    }

    func note(_ place: String, _ what: @autoclosure () -> String, held: @autoclosure () -> String = "") {
        if trace.isKept { trace.note(queue.nowMilliseconds, place, what(), held: held()) }
    }

    func note(_ device: Device, _ what: @autoclosure () -> String, held: @autoclosure () -> String = "") {
        if trace.isKept { trace.note(queue.nowMilliseconds, "device \(device.index)", what(), held: held()) }
    }

    /// What no correct device does.
    func violated(_ what: String) {
        fail(.wireIsRight, what)
    }

    /// A device removed a file that an object has.
    func lostFile(_ what: String) {
        fail(.filesAreThere, what)
    }

    func harnessFailed(_ error: any Error) {
        fail(.noError, "the simulator failed: \(error)")
    }

    /// Runs what may throw; an error that no fault explains is a failure.
    func attempt(orExcusedBy isExcused: @autoclosure () -> Bool = false, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if !isExcused() { fail(.noError, "\(error)") }
        }
    }

    private func fail(_ demand: Failure.Demand, _ details: String) {
        note("world", "FAILS: \(demand.rawValue): \(details)")
        failures.append(Failure(demand: demand, details: details))
    }
}

/// Where the files of a run lie.
enum Folder {
    /// In memory where the machine has such a folder: the disk that loses its contents is simulated.
    static let fast: URL = {
        let memory = URL(filePath: "/dev/shm")
        return FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
    }()
}
