import CloudKit
import SQLiteTestSupport
import System
import Yap
import YapCloudKit

/// A device of a user: its machine, and what outlives the app's processes on it.
final class Device: @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).

    // MARK: What it is

    let index: Int
    let kind: DeviceKind
    let path: String
    let clock: DeviceClock
    let disk = SimulatedDisk()
    let account: DeviceAccount
    unowned let world: World
    /// The version of the app: 1 knows neither notes nor labels nor tags, nor that completion days are synced.
    private(set) var version: Int
    private(set) var app: (any DeviceApp)?
    var offlineUntilMilliseconds: Int64 = 0
    /// The user whose objects the app works with.
    var adoptedUser = 0

    private var losesPower = false
    /// Whether it is to die at one of its writes; else it died over a request.
    private(set) var isDeathPlanned = false
    var filesCount = 0
    /// Files that were put into a field while their bytes were here: they stay until the server has them.
    var filesAtCommits: Set<Ledger.Value> = []
    private var startsCount = 0
    private var lastStep = -1
    private var requestsCount = 0
    private var pushesCount = 0
    /// Whether it was seen that nothing waits, since it came to rest.
    private var isSeenAtRest = false
    /// Whether another process committed, and the running one hasn't noticed.
    private var hasUnnoticedCommit = false
    /// A commit during which the machine died, and what the items were before: it may be there or not.
    private var uncertain: [(key: String, before: Todo?, mark: Ledger.Mark)] = []

    init(_ index: Int, _ kind: DeviceKind, path: String, _ world: World) {
        self.index = index
        self.kind = kind
        self.path = path
        self.world = world
        version = kind.version
        clock = DeviceClock(world.queue.clock)
        account = DeviceAccount(deviceID: "device \(index)")
    }

    /// Whether it has the items of the second database too.
    var hasOthers: Bool { kind.handler != nil && world.plan.scenario.hasOthers }

    /// How many zones it follows.
    var zonesCount: Int { hasOthers || world.plan.scenario.hasSecondZone ? 2 : 1 }

    // MARK: Names of what it does

    func began(_ step: Step) {
        lastStep = step.id
        requestsCount = 0
        pushesCount = 0
    }

    func nextRequestName() -> RequestFault.Name {
        requestsCount += 1
        return RequestFault.Name(device: index, step: lastStep, request: requestsCount)
    }

    /// How an app on the device opens its file.
    func databaseOptions(_ random: any RandomSource) -> YapDatabaseOptions {
        var options = YapDatabaseOptions()
        options.random = random
        options.vfsName = disk.name
        options.checkpointFrames = world.plan.scenario.checkpointFrames
        return options
    }

    /// Pushes are numbered below zero.
    func nextPushName() -> RequestFault.Name {
        pushesCount -= 1
        return RequestFault.Name(device: index, step: lastStep, request: pushesCount)
    }

    /// Whether the last pages of its fetches were from after the server's last write.
    func hasSeenAll(_ network: SimulatedNetwork) -> Bool {
        let pages = network.lastPages[index, default: [:]]
        let zonesCount = world.plan.scenario.hasSecondZone ? 2 : 1
        return pages.count == zonesCount && version > 1
            && pages.values.allSatisfy { $0 == world.ledger.historyCount }
    }

    // MARK: Its processes

    /// How long it takes until a process that ended, or could not begin, is started again.
    private static let restartMilliseconds: Int64 = 1_500

    /// Starts the app's process; one that can't begin is tried again later.
    func start() throws {
        guard app == nil else { return }
        if disk.isDead {
            let seed = world.draws.value("device \(index)'s disk \(startsCount)")
            try disk.start(with: losesPower ? .synced(seed: seed) : .writes)
            losesPower = false
        }
        startsCount += 1
        let process = newProcess("process \(startsCount)")
        do {
            let app = try makeApp(process)
            self.app = app
            hasUnnoticedCommit = false
            world.note(self, "starts", held: "\(kind), now v\(version)")
            try settleUncertain()
            try app.begin()
        } catch {
            // A full or dying disk; anything else is a fault of the product.
            let isExpected = isDiskFaulty
            stop(process)
            guard isExpected else { throw error }
            startLater()
        }
    }

    private func newProcess(_ name: String) -> Process {
        Process(
            world.nextOwner(), world.queue, clock, world.draws.named("device \(index) \(name)"),
            interruptionsPerMille: world.plan.scenario.interruptionsPerMille)
    }

    private func makeApp(_ process: Process) throws -> any DeviceApp {
        guard let handler = kind.handler else { return try CloudSyncApp(self, process) }
        return try HandlerApp(self, handler, process)
    }

    private func startLater() {
        world.queue.schedule(after: Self.restartMilliseconds) { [weak self] in
            guard let self else { return }
            world.attempt { try self.start() }
        }
    }

    private func stop(_ process: Process) {
        // Whatever it says: the process is gone.
        try? app?.database.blocking.close()
        app = nil
        process.end()
        world.network.forget(self)
    }

    /// Ends the process in an orderly way.
    func end() throws {
        guard let process = app?.process else { return }
        defer {
            process.end()
            world.network.forget(self)
        }
        weak let database = app?.database
        if world.plan.scenario.letsGo {
            // The database closes when the last that holds it lets go: the sync may.
            app = nil
            process.end()
        }
        // What is still under way holds a database that was let go.
        let open = database
        app = nil
        do {
            try open?.blocking.close()
        } catch  where isDiskFaulty {}
    }

    func restart() throws {
        guard app != nil else { return }
        world.note(self, "restarts")
        try end()
        try start()
    }

    /// Installs a version of the app, and starts it.
    func install(version new: Int) throws {
        guard app != nil, new != version else { return }
        world.note(self, "installs v\(new)")
        world.ledger.startedOver(device: index)
        var unsynced: [(name: String, field: String, value: String)] = []
        let known = try new > version ? app.map { Set(try $0.todos().keys) } : nil
        if new > version {
            unsynced = try unsyncedValues()
        } else {
            for field in Todo.laterFields { world.ledger.deviceForgot(index, field: field) }
        }
        try end()
        version = new
        try start()
        try noteNewFields(unsynced)
        if let known { try noteNewObjects(besides: known) }
    }

    func die(atChange nth: Int, losesPower: Bool) {
        guard app != nil else { return }
        world.note(self, losesPower ? "will lose its power" : "will be killed", held: "change \(nth)")
        (self.losesPower, isDeathPlanned) = (losesPower, true)
        disk.die(atChange: nth, losesPower: losesPower)
    }

    /// Whether an error of its database is what a fault explains.
    var isDiskFaulty: Bool { disk.isDead || isDiskLimited }
    /// Whether what is to be done in two commits may end between them.
    var mayFailSoon: Bool { isDiskFaulty || isDeathPlanned }
    private var isDiskLimited = false {
        didSet { hasHadDiskFaults = hasHadDiskFaults || isDiskLimited }
    }
    private(set) var hasHadDiskFaults = false
    private var failsToSync = false

    /// Finds its machine dead: what the process had in memory is gone.
    func noticeDeath() throws {
        guard disk.isDead, let ending = app else { return }
        if isDeathPlanned { world.fired(losesPower ? .devicePowerLoss : .deviceKill) }
        world.note(self, losesPower ? "loses its power" : "is killed")
        isDeathPlanned = false
        stop(ending.process)
        startLater()
    }

    func limitDisk(bytesLeft: Int) {
        isDiskLimited = true
        disk.limitGrowth(toBytes: bytesLeft)
    }

    func failSyncs() {
        (isDiskLimited, failsToSync) = (true, true)
        disk.failSyncs()
    }

    func mendDisk() {
        (isDiskLimited, failsToSync) = (false, false)
        disk.mend()
    }

    func heal() throws {
        disk.spare()
        isDeathPlanned = false
        mendDisk()
        offlineUntilMilliseconds = 0
        clock.setRight()
        if let app { world.queue.hold(app.process.owner, untilMilliseconds: 0) }
        try start()
        try app?.foreground()
    }

    func stall(milliseconds: Int64) {
        guard let app else { return }
        world.queue.hold(app.process.owner, untilMilliseconds: world.queue.nowMilliseconds + milliseconds)
    }

    // MARK: At rest

    /// Sees that nothing waits in the file of a device that says it is idle, each time it comes to rest.
    /// - Returns: How many change-sets wait there.
    func pendingAtRest() throws -> Int {
        guard let app, app.status.state == .idle, !isDiskFaulty, !hasUnnoticedCommit, world.isSettled(self)
        else {
            isSeenAtRest = false
            return 0
        }
        guard !isSeenAtRest else { return 0 }
        isSeenAtRest = true
        let count = try app.pendingChangeSetsCount()
        if count == 0 { world.ledger.cameToRest(device: index) }
        return count
    }

    // MARK: Its user

    /// Another user signs in, and the app works with that one's objects.
    func signIn(user: Int) throws {
        guard account.user != user, kind.handler == nil else { return }
        world.note(self, "signs \(SimulatedService.users[user]) in")
        account.signIn(user: user)
        try app?.adopt(user: user)
    }

    // MARK: The person

    /// Edits items in one commit, when the app runs.
    func commit(_ edits: [KeyedEdit]) throws {
        // The ledger goes by the order of what happens: what was merged before is told before.
        app?.tellMerges()
        try write(edits)
    }

    private func write(_ drawn: [KeyedEdit]) throws {
        guard let app, adoptedUser == account.user else { return }
        var edits = drawn.filter { app.has($0.key) }
        var earlier: [Todo?] = []
        do {
            (edits, earlier) = try app.connection.blocking.read { transaction in
                (
                    try edits.map { try withFilesOfOthers($0, app, transaction) },
                    try edits.map { try app.read($0.key, transaction) }
                )
            }
            try addFiles(of: edits, earlier, app)
            try app.prepareToDelete(
                edits.indices.filter { edits[$0].edit == .delete && earlier[$0] != nil }.map { edits[$0].key }
            )
            let after = try app.connection.blocking.readWrite { transaction in
                for (edit, before) in zip(edits, earlier) { try apply(edit, before, app, transaction) }
                return try edits.map { try app.read($0.key, transaction) }
            }
            for (index, edit) in edits.enumerated() {
                try noteFiles(of: edit.key, after[index], app)
                noteTakenAway(edit, earlier[index])
                note(edit.key, earlier[index], after[index])
            }
        } catch {
            guard isDiskFaulty else { throw error }
            world.note(self, "fails to commit")
            guard disk.isDead || failsToSync else { return }
            for (edit, before) in zip(edits, earlier) { noteTakenAway(edit, before) }
            guard disk.isDead else { return noteFailed(edits, earlier) }
            uncertain = zip(edits, earlier).map { edit, before in
                (edit.key, before, mark(edit.key))
            }
        }
    }

    /// Writes down what may be found in the file later, though its commit failed: when the power goes before the disk
    /// syncs again.
    private func noteFailed(_ edits: [KeyedEdit], _ earlier: [Todo?]) {
        for (edit, before) in zip(edits, earlier) {
            let record = key(edit.key)
            for (field, value) in before?.trackedValues ?? [] { noteRemoved(record, field, value) }
            guard let after = edit.applied(to: before) else {
                let deletion = Ledger.Value(record: record, field: Ledger.deletion, value: "")
                world.ledger.mayHaveCommitted(device: index, deletion)
                continue
            }
            let old = before?.trackedValues ?? []
            for (field, value) in after.trackedValues
            where isSynced(field, edit.key) && !old.contains(where: { $0 == (field, value) }) {
                world.ledger.mayHaveCommitted(
                    device: index, Ledger.Value(record: record, field: field, value: value),
                    isInsert: before == nil)
            }
        }
    }

    /// Another process on the device edits the file while the app runs, and ends: it only records.
    func editInOtherProcess(_ edits: [KeyedEdit]) throws {
        guard let running = app, adoptedUser == account.user else { return }
        world.note(self, "edits in another process")
        running.tellMerges()
        let process = newProcess("other \(lastStep)")
        do {
            let other = try makeApp(process)
            defer {
                try? other.database.blocking.close()
                process.end()
            }
            app = other
            defer { app = running }
            try write(edits)
        } catch {
            process.end()
            guard isDiskFaulty else { throw error }
        }
        // The kernel rings; the running process notices the commit by its next transaction.
        hasUnnoticedCommit = true
        running.process.later(2) { [weak self] in
            guard let self, !running.process.isDead else { return }
            hasUnnoticedCommit = false
            world.attempt(orExcusedBy: isDiskFaulty) { try running.connection.blocking.read { _ in } }
        }
    }

    /// What died in a commit is there, or isn't.
    private func settleUncertain() throws {
        guard let app, !uncertain.isEmpty else { return }
        for (name, before, mark) in uncertain {
            let after = try app.connection.blocking.read { try app.read(name, $0) }
            note(name, before, after, mark: mark)
        }
        uncertain = []
    }

    private func apply(
        _ edit: KeyedEdit, _ todo: Todo?, _ app: any DeviceApp,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        if case .change = edit.edit {} else { try app.remove(edit.key, transaction) }
        if let after = edit.applied(to: todo) { try app.write(after, edit.key, transaction) }
    }

    // MARK: The ledger

    private func mark(_ name: String) -> Ledger.Mark {
        world.ledger.mark(
            record: key(name), device: index,
            fetchedHistoryCount: world.network.historyCount(knownTo: index, of: name))
    }

    private func key(_ name: String) -> String { World.ledgerKey(name, user: adoptedUser) }

    /// Writes into the ledger what a commit changed in an item.
    private func note(_ name: String, _ before: Todo?, _ after: Todo?, mark: Ledger.Mark? = nil) {
        let record = key(name)
        let mark = mark ?? self.mark(name)
        guard let after else {
            guard let before else { return }
            world.note(self, "deletes \(record)")
            for (field, value) in before.trackedValues { noteRemoved(record, field, value) }
            return world.ledger.committed(
                device: index, Ledger.Value(record: record, field: Ledger.deletion, value: ""), mark: mark)
        }
        func tracked(_ todo: Todo) -> [(field: String, value: String)] {
            todo.trackedValues.filter { isSynced($0.field, name) }
        }
        for (field, value) in before?.trackedValues ?? []
        where !isSynced(field, name) && !after.trackedValues.contains(where: { $0 == (field, value) }) {
            world.ledger.changedUnsynced(device: index, record: record, field: field)
        }
        let old = Dictionary(uniqueKeysWithValues: before.map(tracked)?.map { ($0.field, $0.value) } ?? [])
        let new = Set(tracked(after).map(\.field))
        for field in old.keys.sorted() where !new.contains(field) {
            world.note(self, "clears \(record).\(field)")
            if let value = old[field] { noteRemoved(record, field, value) }
            world.ledger.committed(
                device: index, Ledger.Value(record: record, field: field, value: Ledger.cleared), mark: mark)
        }
        for (field, value) in tracked(after) where old[field] != value {
            world.note(self, "\(before == nil ? "makes" : "sets") \(record).\(field) = \(value)")
            world.ledger.committed(
                device: index, Ledger.Value(record: record, field: field, value: value),
                isInsert: before == nil, before: old[field], mark: mark)
        }
    }

    private func noteRemoved(_ record: String, _ field: String, _ value: String) {
        world.ledger.removed(device: index, Ledger.Value(record: record, field: field, value: value))
    }

    /// An item that an earlier version of the app makes anew lacks what its type doesn't know.
    private func noteTakenAway(_ edit: KeyedEdit, _ before: Todo?) {
        guard version == 1, kind.handler == nil, before != nil, case .replace = edit.edit else { return }
        world.ledger.tookAway(device: index, record: key(edit.key), field: "label")
    }

    private func isSynced(_ field: String, _ name: String) -> Bool {
        guard Keys.has(field, in: name) else { return false }
        return version > 1 || !Todo.laterFields.contains(field) && !field.hasPrefix(Todo.tagsField)
    }

    /// What the rows have of fields that this version of the app doesn't sync.
    private func unsyncedValues() throws -> [(name: String, field: String, value: String)] {
        let rows = try app?.todos() ?? [:]
        return rows.sorted { $0.key < $1.key }.flatMap { name, todo in
            todo.trackedValues.filter { !isSynced($0.field, name) && Keys.has($0.field, in: name) }
                .map { (name, $0.field, $0.value) }
        }
    }

    /// What was changed while it was no field becomes one with the app's next version. A row that a last page of the
    /// version before has removed took its values along.
    private func noteNewFields(_ values: [(name: String, field: String, value: String)]) throws {
        let rows = try app?.todos()
        for (name, field, value) in values where rows.map({ $0[name] != nil }) ?? true {
            world.note(self, "now syncs \(key(name)).\(field) = \(value)")
            world.ledger.nowSyncs(
                device: index, Ledger.Value(record: key(name), field: field, value: value))
        }
    }

    /// Objects of types that the version before didn't know: an upgrade may send what they had before that version,
    /// also where another device has cleared it since.
    private func noteNewObjects(besides known: Set<String>) throws {
        for (name, todo) in try app?.todos() ?? [:] where !known.contains(name) {
            for (field, value) in todo.trackedValues {
                world.ledger.mayBringBack(
                    device: index, Ledger.Value(record: key(name), field: field, value: value))
            }
        }
    }

    /// Writes down what the app sends as new records, since the server lost them.
    func noteSentAgain(_ names: [String]) {
        for name in names {
            world.note(self, "sends \(key(name)) again")
            world.ledger.madeAgain(device: index, record: key(name))
        }
    }

    /// Writes down what merges decided.
    func noteMerges(_ entries: [CloudMergeLogEntry]) {
        guard world.sabotage?.kind != .mergeLogSilent else { return }
        for entry in entries {
            world.note(self, "merges \(entry)")
            world.merged(device: index, entry, user: adoptedUser)
        }
    }
}

/// How the items of the six kinds are named.
package enum Keys {
    package static let item = "item"
    package static let other = "other"
    package static let note = "note"
    package static let list = "list"
    package static let album = "album"
    package static let sample = "sample"

    /// Whether an item of this name is in the second zone, where there is one.
    static func isInSecondZone(_ name: String) -> Bool { name.hasPrefix(note) || name.hasPrefix(list) }

    /// Whether an item of this name has the field.
    static func has(_ field: String, in name: String) -> Bool {
        if name.hasPrefix(note) { return field == "text" }
        if name.hasPrefix(sample) { return field == "text" }
        if name.hasPrefix(album) { return field == "text" || Todo.fileFields.contains(field) }
        let isOfTags = field.hasPrefix(Todo.tagsField)
        return name.hasPrefix(list)
            ? isOfTags || field == "text" : !isOfTags && !Todo.fileFields.contains(field)
    }
}
