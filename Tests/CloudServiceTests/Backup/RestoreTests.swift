import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import StoreAudit
import System
import Testing

/// What a restore does to all that clients, devices and webhooks know of before.
@Suite struct RestoreTests {
    private let folder: TemporaryFolder
    private let data: DataFolder
    private let clock = ManualTimeSource()

    init() throws {
        folder = try TemporaryFolder()
        data = DataFolder(path: folder.file("data"))
        try data.make()
    }

    private func store(_ data: DataFolder) throws -> SQLiteCloudStore {
        let container = TestService.container
        return try SQLiteCloudStore(
            path: data.storePath(
                container: container.identifier, environment: container.environment, makesFolders: true))
    }

    /// The service of a folder, as a server of it has it.
    private func service(_ data: DataFolder, _ store: SQLiteCloudStore, seed: UInt64 = 1) throws
        -> TestService
    {
        let container = TestService.container
        let assets = try data.assetsPath(container: container.identifier, environment: container.environment)
        let files = DiskAssetStore(path: assets, clock: clock, gate: { try data.holdForCollection() })
        let service = CloudService(
            store: store, clock: clock, random: SeededRandomSource(seed: seed), container: container,
            users: ["ada": TestService.ada, "bob": TestService.bob], assetFiles: files)
        return TestService(service: service, clock: clock)
    }

    private func restored(_ archive: String) throws -> DataFolder {
        let restored = DataFolder(path: folder.file("restored"))
        _ = try restored.restore(from: archive)
        return restored
    }

    private func backedUp() throws -> String {
        let archive = folder.file("b.tar")
        _ = try data.backUp(to: archive)
        return archive
    }

    // MARK: Tokens

    /// What a client could have been given, by the table and the column that it comes from, and why a restore renews
    /// it or leaves it. A new one must be decided on.
    private static let versions = [
        "databases.epoch": "renewed: tokens of a database's feed",
        "notificationFeeds.epoch": "renewed: tokens of a user's collection",
        "records.tagEpoch":
            "kept: a tag names a state of the record, which is the same; new ones are of a new epoch",
        "schema.version":
            "kept: what was parsed is remembered in memory only, and the server is another process",
        "watches.version": "kept: the same",
        "zones.epoch": "renewed: tokens of a zone's feed",
    ]

    @Test func everyEpochThatClientsHaveSeenIsRenewedAndNothingElse() throws {
        let store = try store(data)
        let cloud = try service(data, store)
        try cloud.zones(.create)
        try cloud.zones(.create, token: "bob")
        try cloud.modify([operation(.create, "a", ["n": Field(.int64(1))])])
        try cloud.watch()
        try cloud.change([operation(.create, "b", ["n": Field(.int64(1))])], from: "phone")
        let before = try versions(in: data)
        #expect(Set(before.keys) == Set(Self.versions.keys))
        try expectRenewed(before, versions(in: restored(backedUp())))
        store.close()
    }

    @Test func aFolderThatWasPutBackByOtherMeansGetsNewEpochsBeforeItIsServed() throws {
        let first = try store(data)
        let cloud = try service(data, first)
        try cloud.zones(.create)
        try cloud.zones(.create, token: "bob")
        try cloud.modify([operation(.create, "a", ["n": Field(.int64(1))])])
        try cloud.watch()
        try cloud.change([operation(.create, "b", ["n": Field(.int64(1))])], from: "phone")
        first.close()
        let back = DataFolder(path: folder.file("back"))
        try FileManager.default.copyItem(atPath: data.path, toPath: back.path)
        let second = try store(data)
        let lost = try service(data, second, seed: 2)
        try lost.modify([operation(.create, "lost", ["n": Field(.int64(2))])])
        let token = try lost.changes().syncToken
        second.close()

        try expectRefusedWhileServed(back)
        let before = try versions(in: back)
        let other = DataFolder(path: folder.file("none"))
        #expect(throws: ControlError.self) { try other.renewEpochs() }
        #expect(try back.renewEpochs() == 1)
        try expectRenewed(before, versions(in: back))
        let third = try store(back)
        let again = try service(back, third, seed: 3)
        let refusal = #expect(throws: WireError.self) { try again.changes(token) }
        #expect(refusal?.tokenRefusal == .reset)
        third.close()
    }

    private func expectRefusedWhileServed(_ data: DataFolder) throws {
        let lock = try data.lock()
        defer { withExtendedLifetime(lock) {} }
        #expect(throws: DataFolderError.self) { try data.renewEpochs() }
    }

    private func expectRenewed(_ before: [String: [Int64]], _ after: [String: [Int64]]) {
        for (column, words) in Self.versions {
            let (old, new) = (before[column] ?? [], after[column] ?? [])
            #expect(!old.isEmpty && old.count == new.count, "\(column)")
            if words.hasPrefix("kept") {
                #expect(new == old, "\(column)")
            } else {
                #expect(Set(new).isDisjoint(with: old) && Set(new).count == Set(old).count, "\(column)")
            }
        }
    }

    /// The values of each column that is named after an epoch or a version.
    private func versions(in data: DataFolder) throws -> [String: [Int64]] {
        let container = TestService.container
        let connection = try Connection(
            path: data.storePath(container: container.identifier, environment: container.environment))
        defer { try? connection.close() }
        let sql = """
            SELECT t.name, c.name FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c
            WHERE t.type = 'table' AND (lower(c.name) LIKE '%epoch' OR lower(c.name) LIKE '%version') ORDER BY 1, 2
            """
        var columns: [(table: String, name: String)] = []
        try connection.withStatement(sql) { statement in
            while try statement.step() { columns.append((statement.text(at: 0), statement.text(at: 1))) }
        }
        var values: [String: [Int64]] = [:]
        for column in columns {
            try connection.withStatement("SELECT \(column.name) FROM \(column.table)") { statement in
                values["\(column.table).\(column.name)"] = []
                while try statement.step() {
                    values["\(column.table).\(column.name)", default: []].append(statement.int64(at: 0))
                }
            }
        }
        return values
    }

    @Test func eachKindOfOlderTokenIsRejectedOrContinuesAsTheProtocolSays() throws {
        let store = try store(data)
        let cloud = try service(data, store)
        try cloud.zones(.create)
        try cloud.modify((0..<5).map { operation(.create, "r\($0)", ["n": Field(.int64(Int64($0)))]) })
        try cloud.watch()
        try cloud.change([operation(.create, "told", ["n": Field(.int64(9))])], from: "phone")
        let zone = try cloud.changes().syncToken
        let database = try cloud.databaseChanges().syncToken
        let collection = try cloud.list().syncToken
        let marker = try #require(try query(cloud).continuationMarker)
        let address = try uploadAddress(cloud)
        let receipt = try send([1, 2, 3], to: address, cloud)
        let laptop = try cloud.device("laptop")
        let archive = try backedUp()
        let late = try send([4, 5, 6], to: address, cloud)
        let lateDevice = try cloud.device("late")
        store.close()

        let restored = try restored(archive)
        let again = try service(restored, self.store(restored), seed: 2)
        let refusals = [
            #expect(throws: WireError.self) { try again.changes(zone) },
            #expect(throws: WireError.self) { try again.databaseChanges(database) },
            #expect(throws: WireError.self) { try again.list(collection) },
        ]
        #expect(refusals.allSatisfy { $0?.tokenRefusal == .reset && $0?.serverErrorCode == .badRequest })
        // A marker is a place in an order, which is the same.
        #expect(try query(again, marker).records.compactMap(\.recordName) == ["r2", "r3"])
        // The address and the receipt are signed with a secret that is in the backup, and so is the file.
        #expect(try save(receipt, again).record != nil)
        #expect(try again.file(again.lookup(["photo"])[0].record?.fields["file"]) == [1, 2, 3])
        let gone = try save(late, again).error
        #expect(gone?.serverErrorCode == .badRequest && gone?.reason?.contains("upload it again") == true)
        #expect(try save(send([4, 5, 6], to: address, again), again).record != nil)
        // A device that the backup knows goes on; another is told to begin anew.
        #expect(throws: Never.self) { try again.service.takePush(apnsToken: laptop.apnsToken) }
        let unknown = #expect(throws: WireError.self) {
            try again.service.takePush(apnsToken: lateDevice.apnsToken)
        }
        #expect(unknown?.serverErrorCode == .notFound)
    }

    private func query(_ cloud: TestService, _ marker: String? = nil) throws -> RecordsQueryResponse {
        let query = RecordQuery(recordType: "todo", sortBy: [RecordSort(fieldName: "n")])
        let request = RecordsQueryRequest(
            query: query, zoneID: TestService.zone, resultsLimit: 2, continuationMarker: marker)
        return try cloud.ask("records/query", request, as: RecordsQueryResponse.self)
    }

    private func uploadAddress(_ cloud: TestService) throws -> String {
        var request = AssetsUploadRequest(tokens: [.init(fieldName: "file", recordName: "photo")])
        request.zoneID = TestService.zone
        return try cloud.ask("assets/upload", request, as: AssetsUploadResponse.self).tokens[0].url
    }

    private func send(_ bytes: [UInt8], to url: String, _ cloud: TestService) throws -> Asset {
        let upload = try cloud.service.beginUpload(ticket: String(url.split(separator: "?t=").last ?? ""))
        try upload.write(bytes)
        return try upload.finish().singleFile
    }

    private func save(_ file: Asset, _ cloud: TestService, _ name: String = "photo") throws -> RecordResult {
        try cloud.modify(
            [operation(.forceUpdate, name, type: "photo", ["file": Field(.asset(file))])], atomic: false)[0]
    }

    // MARK: What waited

    @Test func allWaitersOfAZoneAreNotifiedOfTheRestoreWithoutAChange() throws {
        let store = try store(data)
        let cloud = try service(data, store)
        try cloud.zones(.create)
        try cloud.zones(.create, token: "bob")
        try cloud.subscribe()
        let devices = [try cloud.device("laptop"), try cloud.device("phone")]
        try cloud.save("a", from: "phone")
        #expect(try cloud.pushes(devices[0]) == ["all"] && cloud.pushes(devices[1]) == [])
        try cloud.save("b", from: "phone", prepares: false)
        let archive = try backedUp()
        store.close()

        let restored = try restored(archive)
        let again = try service(restored, self.store(restored), seed: 2)
        while try again.service.preparePushes() {}
        // Also the one that made the last change: it may have made others, which are lost.
        #expect(try devices.map { try again.pushes($0) } == [["all"], ["all"]])
    }

    @Test func whatWasNotSentAtTheBackupIsSentOnceUnderItsName() throws {
        let store = try store(data)
        let cloud = try service(data, store)
        try cloud.zones(.create)
        try cloud.modify([operation(.create, "learned")])
        try cloud.watch()
        var changes = StoreChanges()
        changes.notifications.webhooks = [
            WebhookRow(name: "shop", url: "http://127.0.0.1:1/", secret: [1], madeMilliseconds: 0)
        ]
        let made = changes
        try store.write { try $0.apply(made) }
        let laptop = try cloud.device("laptop")
        try cloud.change([operation(.create, "waiting")], from: "phone")
        // This one has fired, and the step that tells it hasn't come yet.
        try cloud.modify([operation(.create, "fired")])
        let waiting = try cloud.service.webhooks.due(requestsMax: 8).requests.map(\.body)
        #expect(waiting.count == 1)
        let archive = try backedUp()
        store.close()

        let restored = try restored(archive)
        let again = try service(restored, self.store(restored), seed: 2)
        while try again.service.preparePushes() {}
        let requests = try again.service.webhooks.due(requestsMax: 8).requests
        #expect(requests.count == 2 && requests.map(\.body).contains(waiting[0]), "the same name and words")
        try again.service.webhooks.settle(
            requests.map { WebhookResult(number: $0.number, isDelivered: true, summary: "HTTP 200") })
        #expect(try again.service.webhooks.due(requestsMax: 8).requests.isEmpty)
        let told = try again.collection().compactMap { $0.ck.cause?.recordName }
        #expect(told == ["waiting", "fired"], "each once")
        #expect(try again.pushes(laptop) == ["watch"])
    }
}
