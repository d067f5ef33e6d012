import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import System

/// The service, its file, and its machine.
final class SimulatedService {
    /// The users of the devices, by their numbers.
    static let users = ["ada", "bob"]
    static let zoneName = "todos"
    static let otherZoneName = "others"
    /// A second zone of an app with `CloudSync`.
    static let secondZoneName = "second"
    static let container = "iCloud.yap.test"

    static func userRecordName(_ user: Int) -> String { "_" + users[user] }
    static func token(_ user: Int) -> String { users[user] + "'s token" }

    /// Short, so that files are collected in a run.
    private static let receiptMilliseconds: Int64 = 60_000
    private static let unusedMilliseconds: Int64 = 10_000

    /// A zone that the run looks into, and how far its change log was read.
    private struct Column {
        var user: Int
        var key: ZoneKey
        var observedCounter: Int64 = 0
    }

    /// What a busy service asks to wait.
    static let retryAfterSeconds = 3.0

    private unowned let world: World
    private let path: String
    private var disk = SimulatedDisk()
    private var store: SQLiteCloudStore?
    private var service: CloudService?
    private var columns: [Column]
    private var backup: (database: [Data?], assets: [[UInt8]])?
    private var watch = TagWatch()
    /// The files of records, which each restart finds again.
    private let assetFiles: MemoryAssetStore
    private var losesPower = false
    private var isZoneDeletionUncertain = false
    private var startsCount = 0
    private(set) var throttledUntilMilliseconds: Int64 = 0
    /// Devices that wait for pushes.
    let courier = SimulatedCourier()

    init(_ world: World, path: String) throws {
        self.world = world
        self.path = path
        assetFiles = MemoryAssetStore(clock: world.queue.clock)
        var keys = [(0, Self.zoneName)]
        if world.plan.scenario.hasOthers { keys.append((0, Self.otherZoneName)) }
        if world.plan.scenario.hasSecondZone { keys.append((0, Self.secondZoneName)) }
        if world.usesAccounts { keys.append((1, Self.zoneName)) }
        if world.usesAccounts, world.plan.scenario.hasSecondZone { keys.append((1, Self.secondZoneName)) }
        columns = keys.map { user, zone in
            Column(
                user: user,
                key: ZoneKey(
                    database: .privateDatabase(of: Self.userRecordName(user)), zoneName: zone))
        }
        try open()
    }

    // MARK: Its process

    private func open() throws {
        var options = OpenOptions()
        options.vfsName = disk.name
        options.checkpointFrames = world.plan.scenario.checkpointFrames
        let store = try SQLiteCloudStore(path: path, options: options, readersMax: 1)
        var limits = ServiceLimits()
        limits.itemsWithExtrasMax = world.plan.scenario.itemsMax
        if world.plan.scenario.hasFiles {
            limits.assets.receiptMilliseconds = Self.receiptMilliseconds
            limits.assets.unusedMilliseconds = Self.unusedMilliseconds
        }
        startsCount += 1
        let users = Self.users.indices.map { user in
            (Self.token(user), ServiceUser(userRecordName: Self.userRecordName(user)))
        }
        service = CloudService(
            store: store, clock: world.queue.clock, random: world.draws.source("service \(startsCount)"),
            users: Dictionary(uniqueKeysWithValues: users), limits: limits, assetFiles: assetFiles)
        self.store = store
        try settleZoneDeletion(in: store)
        try observe()
    }

    private func close() {
        service = nil
        store?.close()
        store = nil
    }

    /// Ends in an orderly way, and starts again.
    func restart() throws {
        world.note("service", "restarts")
        try end()
        try startAgain()
    }

    func end() throws {
        guard store != nil else { return }
        close()
    }

    /// Dies at one of the next changes of its disk.
    func die(atChange nth: Int, losesPower: Bool) {
        guard store != nil else { return }
        world.note("service", losesPower ? "will lose its power" : "will be killed", held: "change \(nth)")
        self.losesPower = losesPower
        disk.die(atChange: nth, losesPower: losesPower)
    }

    /// How long a dead service stays away.
    private static let absenceMilliseconds: Int64 = 2_000

    /// Finds its machine dead, after what it did last.
    func noticeDeath() {
        _ = isFoundDead()
    }

    private func isFoundDead() -> Bool {
        guard disk.isDead, store != nil else { return store == nil }
        stayAway()
        return true
    }

    private func stayAway() {
        world.fired(losesPower ? .servicePowerLoss : .serviceKill)
        world.note("service", losesPower ? "loses its power" : "is killed")
        close()
        world.queue.schedule(after: Self.absenceMilliseconds) { [unowned self] in
            world.attempt { try startAgain() }
        }
    }

    /// Starts again, after an end of any kind.
    func startAgain() throws {
        guard store == nil else { return }
        if disk.isDead {
            let seed = world.draws.value("service's disk \(startsCount)")
            try disk.start(with: losesPower ? .synced(seed: seed) : .writes)
        }
        do {
            try open()
            world.note("service", "starts")
        } catch {
            // It syncs what it finds, and may die over that.
            guard disk.isDead else { throw error }
            stayAway()
        }
    }

    func limitDisk(bytesLeft: Int) {
        isDiskLimited = true
        disk.limitGrowth(toBytes: bytesLeft)
    }

    func mendDisk() {
        isDiskLimited = false
        disk.mend()
    }

    func throttle(milliseconds: Int64) {
        throttledUntilMilliseconds = world.queue.nowMilliseconds + milliseconds
    }

    func heal() throws {
        throttledUntilMilliseconds = 0
        mendDisk()
        disk.spare()
        try startAgain()
    }

    // MARK: Requests

    /// Answers a request; nil when the service isn't there, or died over it.
    func respond(to request: WireRequest, _ kind: String) throws -> WireResponse? {
        guard store != nil, let service else { return nil }
        let response: WireResponse
        if let sabotage = world.sabotage, sabotage.dropsWrite(kind) {
            // The service answers, and its file is put back to what it was: an acknowledged write that wasn't kept.
            let before = files()
            response = service.respond(to: request)
            try putBack(before)
        } else {
            response = service.respond(to: request)
        }
        if isFoundDead() { return nil }
        if kind == "records/modify" || kind == "zones/modify" {
            try observe()
            try deliverPushes()
        }
        return isFoundDead() ? nil : response
    }

    /// Takes or sends a file; nil when the service isn't there, or died over it.
    func carry(_ file: CarriedFile) throws -> WireResponse? {
        guard store != nil, let service else { return nil }
        let response = service.carry(file)
        if let bytes = file.upload, response.status == 200, world.sabotage?.dropsFile() == true {
            try assetFiles.drop(bytes)
        }
        return isFoundDead() ? nil : response
    }

    /// The bytes of a file that the service has, whether a record holds it or not.
    func bytes(ofFile text: String) -> [UInt8]? {
        let digits = Array(text.dropFirst("cloudfile:".count).prefix(40))
        let digest = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...$0 + 1]), radix: 16)
        }
        let found = assetFiles.files(after: nil, filesMax: .max).first { $0.digest.starts(with: digest) }
        guard let found, let reader = assetFiles.open(found.digest) else { return nil }
        return try? reader.read(at: 0, bytesMax: Int(reader.bytes))
    }

    func see(_ request: WireRequest, from device: Int) throws -> [String] {
        try watch.see(request, from: device)
    }

    func see(_ response: WireResponse, to request: WireRequest, device: Int) throws {
        try watch.see(response, to: request, device: device)
    }

    func see(page response: WireResponse, to request: WireRequest, device: Int) throws {
        try watch.see(page: response, to: request, device: device)
    }

    /// The answer of a service that asks to come again.
    func busyAnswer(_ code: ServerErrorCode) throws -> WireResponse {
        let error = WireError(code, reason: "simulated", retryAfterSeconds: Self.retryAfterSeconds)
        return WireResponse(
            status: code.httpStatus, headers: [(WireHeader.protocolVersion, "1")], body: try error.json())
    }

    // MARK: Pushes

    /// Answers the waits for which there is a push.
    private func deliverPushes() throws {
        guard let service, courier.hasWaits else { return }
        preparePushes(service)
        for wait in courier.waits { try take(wait, acknowledging: nil) }
    }

    /// A disk that is full or gone leaves them for the next step.
    private func preparePushes(_ service: CloudService) {
        while (try? service.preparePushes()) == true {}
    }

    /// Takes a device's wait for pushes.
    func wait(_ wait: SimulatedCourier.Wait, acknowledging notificationID: String?) throws {
        guard let service, store != nil else { return wait.end(nil) }
        courier.add(wait)
        preparePushes(service)
        try take(wait, acknowledging: notificationID)
        _ = isFoundDead()
    }

    private func take(_ wait: SimulatedCourier.Wait, acknowledging notificationID: String?) throws {
        guard let service else { return }
        do {
            guard let push = try service.takePush(apnsToken: wait.token, acknowledging: notificationID)
            else { return }
            courier.remove(wait)
            wait.end(WireResponse(status: 200, body: push.payload))
        } catch let error as WireError {
            courier.remove(wait)
            wait.end(
                WireResponse(
                    status: error.serverErrorCode.httpStatus, headers: [], body: (try? error.json()) ?? []))
        }
    }

    // MARK: Its keeper

    func pruneTombstones() throws {
        try maintain("prunes tombstones") { service, column in
            try service.zoneMaintenance.pruneTombstones(
                zoneName: column.key.zoneName, ofUser: Self.userRecordName(column.user))
        }
    }

    func resetZones() throws {
        try maintain("resets the zones") { try resetZone($0, $1) }
    }

    /// - Parameter isRestored: Whether the zone was restored from a backup, which renews deleted zones too.
    private func resetZone(_ service: CloudService, _ column: Column, isRestored: Bool = false) throws {
        try service.zoneMaintenance.resetEpoch(
            zoneName: column.key.zoneName, ofUser: Self.userRecordName(column.user),
            includesDeleted: isRestored)
    }

    private func maintain(_ what: String, _ body: (CloudService, Column) throws -> Void) throws {
        guard let service, store != nil else { return }
        world.note("service", what)
        try keep { for column in columns { try body(service, column) } }
    }

    /// When the disk is full or gone, the keeper tries again another time.
    private func keep(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is CloudStoreError where isDiskLimited || disk.isDead {}
        _ = isFoundDead()
    }

    private var isDiskLimited = false

    /// Deletes the first user's zone, as another client of the user does.
    func deleteZone() throws {
        guard store != nil else { return }
        world.note("service", "deletes the zone")
        let message = ZonesModifyRequest(operations: [
            ZoneOperation(operationType: .delete, zone: WireZone(zoneID: ZoneID(zoneName: Self.zoneName)))
        ])
        let request = WireRequest(
            path: "/database/1/\(Self.container)/development/private/zones/modify",
            query: [(WireHeader.webAuthTokenItem, Self.token(0))],
            headers: [("Content-Type", "application/json")], body: try message.json())
        let wasThere = try store.map(hasZone) ?? false
        let response = try respond(to: request, "zones/delete")
        isZoneDeletionUncertain = wasThere && store == nil
        if response?.status == 200 { noteZoneDeletion() }
    }

    private func noteZoneDeletion() {
        columns[0].observedCounter = 0
        watch = TagWatch()
        world.ledger.serverWasRestored()
    }

    /// Sees, after the service died over the deletion of the zone, whether it is gone.
    private func settleZoneDeletion(in store: SQLiteCloudStore) throws {
        guard isZoneDeletionUncertain else { return }
        isZoneDeletionUncertain = false
        if try !hasZone(in: store) { noteZoneDeletion() }
    }

    private func hasZone(in store: SQLiteCloudStore) throws -> Bool {
        var load = StoreLoad()
        load.zones = [columns[0].key]
        return try store.read { try $0.load(load) }.zones[columns[0].key]?.isDeleted == false
    }

    func collectFiles() throws {
        guard let service, store != nil else { return }
        world.note("service", "collects files")
        try keep { while try service.collectUnusedFiles() {} }
    }

    func backUp() {
        if store != nil { backup = (files(), assetFiles.contents) }
    }

    func restoreBackup() throws {
        guard let backup, store != nil else { return }
        world.fired(.restoredBackup)
        world.note("service", "is restored")
        world.ledger.serverWasRestored()
        try putBack(backup.database)
        // What was collected since the backup comes back with it.
        for bytes in backup.assets { try assetFiles.put(bytes) }
        try keep {
            for column in columns { if let service { try resetZone(service, column, isRestored: true) } }
        }
        guard store != nil else { return }
        for index in columns.indices {
            columns[index].observedCounter = try column(index)?.rows(after: 0).last?.counter ?? 0
        }
        watch = TagWatch()
        backUp()
    }

    /// The service's file and its log.
    private func files() -> [Data?] {
        ["", "-wal"].map { try? Data(contentsOf: URL(filePath: path + $0)) }
    }

    /// Starts the service from its file as it was.
    private func putBack(_ files: [Data?]) throws {
        close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        for (suffix, file) in zip(["", "-wal"], files) { try file?.write(to: URL(filePath: path + suffix)) }
        disk = SimulatedDisk()
        try open()
    }

    // MARK: What it holds

    private func column(_ index: Int) -> ServerColumn? {
        store.map { ServerColumn(store: $0, zone: columns[index].key) }
    }

    /// The live records of a user's zones as items.
    func todos(ofUser user: Int) throws -> [String: Todo] {
        var todos: [String: Todo] = [:]
        for index in columns.indices where columns[index].user == user {
            guard let server = column(index) else { throw ServiceIsDown() }
            todos.merge(try server.todos()) { first, _ in first }
        }
        return todos
    }

    /// Reads what the service has written since the last time into the ledger.
    private func observe() throws {
        for index in columns.indices {
            guard let server = column(index) else { continue }
            for row in try server.rows(after: columns[index].observedCounter) {
                columns[index].observedCounter = row.counter
                try observe(row, user: columns[index].user)
            }
        }
    }

    private func observe(_ row: StoredRecord, user: Int) throws {
        let name = row.key.recordName
        let key = World.ledgerKey(name, user: user)
        if row.isDeleted {
            world.ledger.serverDeleted(record: key)
            watch.deleted(record: key, at: row.counter)
            world.note("service", "has deleted \(key)", held: "counter \(row.counter)")
        } else {
            let todo = try ServerColumn.todo(of: row)
            let values = todo.trackedValues.filter { Keys.has($0.field, in: name) }
            world.ledger.serverHas(record: key, fields: values)
            world.note("service", "has written \(key)", held: "\(todo.short) counter \(row.counter)")
        }
    }
}

/// The service isn't there, and something of the run needs it.
struct ServiceIsDown: Error {}
