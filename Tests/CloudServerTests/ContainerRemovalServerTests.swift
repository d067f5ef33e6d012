import CloudService
import CloudWire
import Dispatch
import Foundation
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer
@testable import CloudStore

/// A container that is removed under a running server.
@Suite struct ContainerRemovalServerTests {
    /// A server's folder with two containers, the account ada, and a server in this process.
    private final class Served: Sendable {
        static let other = "iCloud.other"
        let folder: TemporaryFolder
        let dataFolder: DataFolder
        let control: ControlStore
        let log = KeptLog()
        let server: CloudServer

        init() throws {
            folder = try TemporaryFolder()
            dataFolder = DataFolder(path: folder.path)
            _ = try dataFolder.make()
            control = try ControlStore(path: dataFolder.controlPath)
            try control.accounts.add(name: "ada", passwordHash: "x")
            var options = CloudServerOptions()
            options.log = log
            options.courierHoldMilliseconds = 600_000
            server = CloudServer(
                dataFolder: dataFolder, control: control,
                accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
                signIn: try SignInCheck(control, isDevelopmentForEveryone: true), options: options)
            try server.start()
        }

        /// Makes the container and signs ada in.
        func signIn(_ container: String = RawDevice.container) throws -> Credential {
            try control.containers.add(container)
            guard let ada = try control.accounts.find(named: "ada") else { throw Failure("no ada") }
            let session = try control.sessions.make(of: ada, container: container, environment: "development")
            return Credential(
                webAuthToken: session.token,
                apiToken: try control.tokens.make(container: container, name: "\(session.session.id)"))
        }

        /// Marks it as a command does, and waits until the server has removed it.
        func remove(_ environment: String? = nil) throws {
            let begun = try control.containers.beginRemoval(
                container: RawDevice.container, environment: environment)
            let wanted = environment ?? "development, production"
            _ = try log.line { line in
                line["event"] as? String == "container removed" && line["environment"] as? String == wanted
            }
            #expect(try !control.containers.removals().contains(begun))
        }
    }

    private func withServed(_ body: @escaping @Sendable (Served) throws -> Void) async throws {
        try await onThread {
            let served = try Served()
            defer { served.server.stop() }
            try body(served)
        }
    }

    private static func save(_ names: [String], _ device: RawDevice) throws -> RawResponse {
        try device.modify(
            names.map { RecordOperation(operationType: .create, record: RawDevice.record($0, 1)) }, zone: "z")
    }

    private static func changes(_ token: String?, _ device: RawDevice) throws -> RawResponse {
        try device.post(
            "private/changes/zone",
            ChangesZoneRequest(zones: [.init(zoneID: ZoneID(zoneName: "z"), syncToken: token)]))
    }

    private static func databaseChanges(_ token: String?, _ device: RawDevice) throws -> RawResponse {
        try device.post("private/changes/database", ChangesDatabaseRequest(syncToken: token))
    }

    @Test func requestsForARemovedContainerGetAnErrorAndOthersAreServed() async throws {
        try await withServed { served in
            let port = served.server.port
            let device = try RawDevice(port: port, token: served.signIn())
            try device.makeZone("z")
            #expect(try Self.save(["a"], device).status == 200)
            let other = try served.signIn(Served.other)
            try served.remove()
            let refused = try device.modify(
                [RecordOperation(operationType: .create, record: RawDevice.record("b", 1))], zone: "z")
            #expect(refused.status == 404, "\(refused.text)")
            #expect(try WireError(json: refused.body).serverErrorCode == .notFound)
            let root = "\(served.dataFolder.path)/containers/\(RawDevice.container)"
            #expect(!FileManager.default.fileExists(atPath: root), "the disk is free")
            let caller = try RawConnection(port: port).exchange(
                "GET", "/database/1/\(Served.other)/development/public/users/caller?\(other.query)")
            #expect(caller.status == 200)
        }
    }

    @Test func aRemovedContainerIsClosedBeforeItsFilesGoAndRefusedMeanwhile() async throws {
        try await onThread {
            let temporary = try TemporaryFolder()
            let folder = DataFolder(path: temporary.path)
            try folder.make()
            let control = try ControlStore(path: folder.controlPath)
            try control.containers.add("iCloud.old")
            let container = CloudService.Container(identifier: "iCloud.old", environment: "production")
            let path = try folder.storePath(
                container: "iCloud.old", environment: "production", makesFolders: true)
            let closed = DispatchSemaphore(value: 0)
            let courier = Courier(pollsMax: 1, holdMilliseconds: 1, clock: SystemMonotonicSource())
            let webhooks = try WebhookSender(clock: SystemTimeSource()).started()
            let table = try EnvironmentTable(
                openMax: 1,
                opener: { _ in
                    let hold = Lock(
                        try folder.hold(container: "iCloud.old", environment: "production", in: control))
                    let store = try SQLiteCloudStore(path: path)
                    return OpenedService(
                        service: CloudService(
                            store: store, clock: SystemTimeSource(), random: SystemRandomSource()),
                        close: {
                            store.close()
                            hold.withLock { $0 = nil }
                            closed.signal()
                        })
                }, courier: courier, webhooks: webhooks
            ).started()
            defer {
                webhooks.stop()
                courier.stop()
                table.stop()
            }
            let given = DispatchSemaphore(value: 0)
            let environment = Lock<OpenEnvironment?>(nil)
            table.use(container) { result in
                environment.withLock { $0 = try? result.get() }
                given.signal()
            }
            given.wait()
            let used = try #require(environment.withLock { $0 })
            _ = try control.containers.beginRemoval(container: "iCloud.old")
            let kept = KeptLog()
            let log = try ServerLog(kept, entriesMax: 100, clock: SystemTimeSource()).started()
            defer { log.stop(waitMilliseconds: 1_000) }
            let watch = RemovalWatch(folder, control, table, courier, nil, log)
            defer { watch.stop() }
            watch.look()
            let refused = Lock<WireError?>(nil)
            table.use(container) { result in
                if case .failure(let error) = result { refused.withLock { $0 = error } }
            }
            #expect(refused.withLock { $0?.serverErrorCode } == .notFound, "at once")
            #expect(StoreFile.exists(at: path), "somebody still uses it")
            table.release(used)
            watch.look()
            closed.wait()
            _ = try watch.started()
            _ = try kept.line { $0["event"] as? String == "container removed" }
            #expect(!StoreFile.exists(at: path))
            #expect(try control.containers.removals().isEmpty)
        }
    }

    /// Each answer is of the whole container, or a refusal.
    @Test func noRequestSeesHalfOfAContainerThatIsBeingRemoved() async throws {
        try await withServed { served in
            let port = served.server.port
            let credential = try served.signIn()
            let names = (0..<20).map { "r\($0)" }
            let first = try RawDevice(port: port, token: credential)
            try first.makeZone("z")
            #expect(try Self.save(names, first).status == 200)
            let reading = DispatchSemaphore(value: 0)
            let statuses = Lock<[Int]>([])
            let ended = DispatchSemaphore(value: 0)
            for _ in 0..<4 {
                Thread {
                    defer { ended.signal() }
                    guard let device = try? RawDevice(port: port, token: credential) else { return }
                    reading.signal()
                    while true {
                        let request = RecordsLookupRequest(
                            records: names.map { .init(recordName: $0) }, zoneID: ZoneID(zoneName: "z"))
                        guard let response = try? device.post("private/records/lookup", request) else {
                            return
                        }
                        let isWhole =
                            response.status != 200
                            || (try? RecordsResponse(json: response.body).records.count {
                                if case .record = $0 { true } else { false }
                            }) == names.count
                        statuses.withLock { $0.append(isWhole ? response.status : -1) }
                        if response.status != 200 { return }
                    }
                }.start()
            }
            for _ in 0..<4 { reading.wait() }
            try served.remove()
            for _ in 0..<4 { ended.wait() }
            let found = statuses.withLock { Set($0) }
            #expect(found.isSubset(of: [200, 404]) && found.contains(404), "\(found)")
        }
    }

    @Test(arguments: [nil, "development"] as [String?])
    func aContainerThatIsMadeAgainRefusesTheTokensAndTagsOfTheFormer(_ environment: String?) async throws {
        try await withServed { served in
            let port = served.server.port
            let credential = try served.signIn()
            let former = try RawDevice(port: port, token: credential)
            try former.makeZone("z")
            let saved = try RecordsModifyResponse(json: Self.save(["a"], former).body)
            guard case .record(let record) = saved.records[0] else { throw Failure("\(saved)") }
            let zoneToken = try ChangesZoneResponse(json: Self.changes(nil, former).body).zones
            guard case .changes(let zone) = zoneToken[0] else { throw Failure("\(zoneToken)") }
            let database = try ChangesDatabaseResponse(json: Self.databaseChanges(nil, former).body)
            let files = try AssetClient(port: port, token: credential)
            _ = try files.save(try files.upload(AssetClient.bytes(1000), "f"), "f")
            let address = try #require(try files.lookUp("f").downloadURL)
            #expect(try files.fetch(address).status == 200)
            try served.remove(environment)

            let later = try RawDevice(port: port, token: try served.signIn())
            #expect(try former.post("private/zones/list", ZonesListRequest()).status != 200)
            let unknown = try Self.databaseChanges(database.syncToken, later)
            #expect(try WireError(json: unknown.body).tokenRefusal == .reset, "\(unknown.text)")
            try later.makeZone("z")
            let again = try Self.databaseChanges(database.syncToken, later)
            #expect(try WireError(json: again.body).tokenRefusal == .reset, "\(again.text)")
            let changes = try ChangesZoneResponse(json: Self.changes(zone.syncToken, later).body)
            guard case .error(let error) = changes.zones[0] else { throw Failure("\(changes)") }
            #expect(error.tokenRefusal == .reset)
            // The same record, saved anew, has no tag of the former one.
            #expect(try Self.save(["a"], later).status == 200)
            let update = try later.modify(
                [
                    RecordOperation(
                        operationType: .update, record: RawDevice.record("a", 2, tag: record.recordChangeTag))
                ], zone: "z")
            #expect(update.text.contains("CONFLICT"), "\(update.text)")
            let fetched = try files.fetch(address)
            #expect((400..<500).contains(fetched.status), "\(fetched.status)")
        }
    }

    @Test func aWaitingDeviceIsNotifiedAtOnce() async throws {
        try await withServed { served in
            let device = try RawDevice(port: served.server.port, token: served.signIn())
            let created = try device.post(
                "tokens/create", module: "device",
                TokensCreateRequest(apnsEnvironment: .development, clientID: "phone"))
            let token = try TokensResponse(json: created.body).apnsToken
            let polled = DispatchSemaphore(value: 0)
            let status = Lock(0)
            let port = served.server.port
            Thread {
                let path = "/device/1/\(RawDevice.container)/development/courier?token=\(token)"
                let response = try? RawConnection(port: port).exchange("GET", path)
                status.withLock { $0 = response?.status ?? -1 }
                polled.signal()
            }.start()
            try served.remove()
            polled.wait()
            #expect(status.withLock { $0 } == 404)
        }
    }

    @Test func anInterruptedRemovalContinuesAtTheNextStart() async throws {
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let control = try ControlStore(path: folder.dataFolder.controlPath)
            _ = try folder.dataFolder.storePath(
                container: RawDevice.container, environment: "production", makesFolders: true)
            _ = try control.containers.beginRemoval(container: RawDevice.container)
            let log = KeptLog()
            var options = CloudServerOptions()
            options.log = log
            let server = CloudServer(
                dataFolder: folder.dataFolder, control: control,
                accounts: ControlAccounts(control, isDevelopmentForEveryone: true),
                signIn: try SignInCheck(control, isDevelopmentForEveryone: true), options: options)
            try server.start()
            defer { server.stop() }
            let line = try log.line { $0["event"] as? String == "container removed" }
            #expect(line["container"] as? String == RawDevice.container)
            #expect(try control.containers.removals().isEmpty && control.tokens.list().isEmpty)
        }
    }
}
