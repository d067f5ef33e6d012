import CloudKitAdditions
import CloudKitTesting
import CloudWire
import Foundation
import System
import Testing
import Waiting

@testable import CloudKit

/// Containers that mean the same cloud as the same user and device share one place, however often an app makes them.
@Suite struct SharedPlaceTests {
    // MARK: Which are the same

    @Test func containersOfOneConfigurationShareAPlaceAndOthersDoNot() throws {
        let folder = try Folder()
        let key = try folder.write("key.pem", ServerSignatureTests.pem)
        var said = CloudConfiguration.Container()
        said.server = "http://127.0.0.1:1/"
        said.credentialFile = folder.path + "/credentials.json"
        said.deviceID = "d"
        func place(_ container: CloudConfiguration.Container, _ identifier: String = "iCloud.a") throws
            -> ResolvedContainer
        {
            var configuration = CloudConfiguration(credentialFile: folder.path + "/others.json")
            configuration.defaultContainer = identifier
            configuration.containers[identifier] = container
            return try CKContainer(identifier: nil, configuration: configuration).core.resolved()
        }
        let first = try place(said)
        #expect(try place(said) === first)
        var same = said
        same.server = "http://127.0.0.1:1"
        same.environment = "development"
        same.serverKind = "yap"
        #expect(try place(same) === first, "what is meant counts and not how it is said")
        #expect(try place(said, "iCloud.b") !== first)
        var others: [ResolvedContainer] = []
        for change in Self.changes {
            var other = said
            change(&other)
            others.append(try place(other))
        }
        var keyed = said
        (keyed.keyID, keyed.keyFile) = ("k", key)
        others.append(try place(keyed))
        #expect(Set((others + [first]).map { ObjectIdentifier($0) }).count == Self.changes.count + 2)
    }

    private static let changes: [@Sendable (inout CloudConfiguration.Container) -> Void] = [
        { $0.server = "http://127.0.0.1:2" }, { $0.environment = "production" }, { $0.apiToken = "x" },
        { $0.webAuthToken = "x" }, { $0.credentialFile = nil }, { $0.deviceID = "e" }, { $0.deviceID = nil },
        { $0.authoritiesFile = "/etc/ssl/certs/ca-certificates.crt" }, { $0.serverKind = "apple" },
    ]

    @Test func aContainerMadeAfterAConfigurationChangeUsesTheNewServer() async throws {
        let folder = try Folder()
        let servers = [try PlaceServer(), try PlaceServer()]
        func container() throws -> CKContainer {
            CKContainer(
                identifier: PlaceApp.identifier,
                configuration: CloudConfiguration(
                    environment: ["XDG_CONFIG_HOME": folder.path], currentFolder: folder.path))
        }
        func name(_ server: PlaceServer) throws {
            let place =
                #"{"server": "\#(server.url)", "credentialFile": "credentials.json", "deviceID": "d"}"#
            try folder.write("cloudkit.json", #"{"containers": {"\#(PlaceApp.identifier)": \#(place)}}"#)
        }
        try name(servers[0])
        let before = try container()
        _ = try? await before.publicCloudDatabase.record(for: CKRecord.ID(recordName: "1"))
        #expect(servers.map(\.requestCount) == [1, 0])
        try name(servers[1])
        let after = try container()
        _ = try? await after.publicCloudDatabase.record(for: CKRecord.ID(recordName: "1"))
        #expect(servers.map(\.requestCount) == [1, 1])
        _ = try? await before.publicCloudDatabase.record(for: CKRecord.ID(recordName: "1"))
        #expect(servers.map(\.requestCount) == [2, 1], "one that has asked goes on with its own")
        #expect(try before.core.resolved() !== after.core.resolved())
    }

    @Test func aCallAndAVariableThatComeLaterCountForNewContainers() async throws {
        await #expect(processExitsWith: .success) {
            func server() throws -> String? {
                let connection = try CKContainer(identifier: "iCloud.a").resolved().connection
                return (connection.transport as? HTTPTransport)?.serverURL
            }
            setenv("XDG_CONFIG_HOME", NSTemporaryDirectory() + "none", 1)
            setenv("CLOUDKIT_DEVICE_ID", "d", 1)
            setenv("CLOUDKIT_SERVER", "http://127.0.0.1:1", 1)
            let kept = CKContainer(identifier: "iCloud.a")
            let keptPlace = try kept.core.resolved()
            guard try server() == "http://127.0.0.1:1" else { exit(1) }
            setenv("CLOUDKIT_SERVER", "http://127.0.0.1:2", 1)
            guard try server() == "http://127.0.0.1:2" else { exit(2) }
            var configuration = CloudKitConfiguration()
            configuration.containers["iCloud.a"] = .init(server: "http://127.0.0.1:3", deviceID: "d")
            CKContainer.configure(configuration)
            guard try server() == "http://127.0.0.1:3" else { exit(3) }
            guard try kept.core.resolved() === keptPlace else { exit(4) }
            exit(0)
        }
    }

    @Test func manyThreadsThatMakeContainersAtATimeGetOnePlace() throws {
        let app = try PlaceApp()
        for _ in 0..<20 {
            let places = Collected<ResolvedContainer>()
            DispatchQueue.concurrentPerform(iterations: 16) { _ in
                if let place = try? app.container().core.resolved() { places.append(place) }
                // One that nobody else keeps goes while others are made.
                _ = try? app.container(identifier: "iCloud.other").core.resolved()
            }
            #expect(places.all.count == 16 && Set(places.all.map { ObjectIdentifier($0) }).count == 1)
        }
    }

    // MARK: The account

    @Test func aChangeOfTheAccountIsPostedOnceHoweverManyContainersThereAre()
        async throws
    {
        let app = try PlaceApp()
        let containers = [app.container(), app.container(), app.container()]
        let posts = try PostsOfContainers(containers)
        defer { posts.end() }
        var told = posts.stream.makeAsyncIterator()
        func users() throws -> Set<String?> {
            Set(try containers.map { try $0.resolved().connection.account.credential().userRecordName })
        }
        #expect(try users() == [nil])
        try await containers[0].signIn(account: "ada", password: "p")
        #expect(try users() == ["_ada"])
        try await containers[1].signIn(account: "bob", password: "p")
        #expect(try users() == ["_bob"])
        try containers[2].signOut()
        #expect(try users() == [nil])
        for _ in 0..<3 { await told.next() }
        #expect(posts.count == 3, "in, switched, out")
        for (user, number) in [("ada", 4), ("bob", 5), (nil, 6)] {
            try app.elsewhereSignsIn(user)
            #expect(try users() == [user.map { "_" + $0 }])
            await told.next()
            #expect(posts.count == number, "by another process")
        }
    }

    // MARK: Pushes

    @Test func allContainersOfADeviceHearEachPush() async throws {
        let app = try PlaceApp()
        let laptop = app.container(device: "laptop").privateCloudDatabase
        try await app.container().signIn(account: "ada", password: "p")
        try await laptop.save(CKRecordZone(zoneName: "todos"))
        try await app.container().privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
        // Two that listen, each made where it is needed, and none of them kept.
        var first = app.container().notifications().makeAsyncIterator()
        #expect(name(await first.next()) == "listening")
        var second = app.container().notifications().makeAsyncIterator()
        #expect(name(await second.next()) == "listening")
        for number in 1...5 {
            let id = CKRecord.ID(recordName: "\(number)", zoneID: CKRecordZone.ID(zoneName: "todos"))
            try await laptop.save(CKRecord(recordType: "todo", recordID: id))
            #expect(name(await first.next()) == "all")
            #expect(name(await second.next()) == "all")
        }
        #expect(app.server.waitCount <= 1)
    }

    @Test func containersOfATestsDeviceShareWhatTheyHearAndDevicesDoNot() async throws {
        let cloud = TestCloud()
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        func containers(_ device: TestDevice, _ identifier: String) -> [CKContainer] {
            device.asDefault { [CKContainer(identifier: identifier), CKContainer(identifier: identifier)] }
        }
        for identifier in ["iCloud.yap.test", "iCloud.another"] {
            let both = containers(phone, identifier), other = containers(laptop, identifier)[0]
            #expect(try both[0].core.resolved() === both[1].core.resolved())
            #expect(try both[0].core.resolved() !== other.core.resolved())
            try await other.privateCloudDatabase.save(CKRecordZone(zoneName: "todos"))
            try await both[0].privateCloudDatabase.save(CKDatabaseSubscription(subscriptionID: "all"))
            let heard = [Collected<String>(), Collected<String>()]
            let ends = zip(both, heard).map { container, heard in
                container.observeNotifications { event in
                    if case .notification(let notification) = event {
                        heard.append(notification.subscriptionID ?? "?")
                    }
                }
            }
            // A test's cloud has one store for all containers.
            let id = CKRecord.ID(recordName: identifier, zoneID: CKRecordZone.ID(zoneName: "todos"))
            try await other.privateCloudDatabase.save(CKRecord(recordType: "todo", recordID: id))
            cloud.deliverPushes()
            #expect(heard.map(\.all) == [["all"], ["all"]])
            for end in ends { end() }
        }
        #expect(
            try phone.asDefault { try CKContainer(identifier: "iCloud.yap.test").core.resolved() }
                === phone.container.core.resolved(), "the device's own")
    }

    // MARK: A busy server

    @Test func aBusyServersWordHoldsForAllContainersAlsoForThoseMadeLater()
        async throws
    {
        let app = try PlaceApp()
        try await app.container().signIn(account: "ada", password: "p")
        let kept = app.container()
        _ = try await kept.privateCloudDatabase.allRecordZones()
        func ask(_ container: CKContainer) async -> CKError? {
            do {
                _ = try await container.privateCloudDatabase.allRecordZones()
                return nil
            } catch {
                return error as? CKError
            }
        }
        app.server.isBusy = true
        #expect(await ask(app.container())?.code == .serviceUnavailable)
        app.server.isBusy = false
        let count = app.server.requestCount
        for container in [kept, app.container()] {
            let error = await ask(container)
            #expect(error?.code == .requestRateLimited && (error?.retryAfterSeconds ?? 0) > 3_500)
        }
        #expect(app.server.requestCount == count, "nothing was sent")
        #expect(await ask(app.container(device: "laptop")) == nil, "another device isn't held back")
    }

    @Test func theWordOutlivesTheContainersThatHeardIt() async throws {
        let app = try PlaceApp()
        try await app.container().signIn(account: "ada", password: "p")
        app.server.isBusy = true
        let place = Gone()
        await place.ask(app.container())
        try await place.isGone()
        app.server.isBusy = false
        let code = await codeThrown { try await app.container().privateCloudDatabase.allRecordZones() }
        #expect(code == .requestRateLimited)
    }

    // MARK: How long

    @Test func aPlaceIsReleasedWithTheLastContainerAndItsWaitAndWatchEnd() async throws {
        let app = try PlaceApp()
        try await app.container().signIn(account: "ada", password: "p")
        let place = Gone()
        var stream: AsyncStream<CloudNotificationEvent>?
        do {
            let container = app.container()
            try place.watch(container)
            stream = container.notifications()
        }
        var iterator = stream?.makeAsyncIterator()
        #expect(name(await iterator?.next()) == "listening")
        #expect(FolderWatch.shared.paths.contains(app.credentialFile))
        #expect(place.isThere, "who listens keeps it")
        #expect(try app.container().core.resolved() === place.place, "and shares it with whoever comes")
        await app.server.waitHasBegun()
        iterator = nil
        stream = nil
        await app.server.waitIsGivenUp()
        try await place.isGone()
        // What was under way on another thread lets go of the account a moment later.
        try await Polling.until { !FolderWatch.shared.paths.contains(app.credentialFile) }
    }

    @Test func whoForgetsToEndAListeningKeepsNothing() async throws {
        let app = try PlaceApp()
        let place = Gone()
        do {
            let container = app.container()
            try place.watch(container)
            let heard = Collected<String>()
            let first = AsyncStream<Void>.makeStream()
            let end = container.privateCloudDatabase.observeNotifications { _ in
                heard.append("heard")
                first.continuation.yield()
            }
            var iterator = first.stream.makeAsyncIterator()
            await iterator.next()
            withExtendedLifetime(end) {}
        }
        try await place.isGone()
    }
}

/// A place that is kept by nobody here.
private final class Gone: Sendable {
    private struct Weak {
        weak var place: ResolvedContainer?
    }

    private let seen = Lock(Weak())

    var place: ResolvedContainer? { seen.withLock { $0.place } }
    var isThere: Bool { place != nil }

    func watch(_ container: CKContainer) throws {
        let place = try container.core.resolved()
        seen.withLock { $0.place = place }
    }

    func ask(_ container: CKContainer) async {
        try? watch(container)
        _ = try? await container.privateCloudDatabase.allRecordZones()
    }

    /// Returns when it is gone: what runs on other threads lets go of it in its time.
    func isGone() async throws {
        try await Polling.until { !isThere }
        #expect(!isThere)
    }
}

/// What is posted for some containers or the account behind them.
private final class PostsOfContainers: Sendable {
    let stream: AsyncStream<Void>
    private let posts = Lock(0)
    private let observer: Lock<(any NSObjectProtocol)?>
    var count: Int { posts.withLock { $0 } }

    init(_ containers: [CKContainer]) throws {
        var senders = Set(containers.map { ObjectIdentifier($0) })
        for container in containers {
            if let account = try container.resolved().connection.account as? FileAccount {
                senders.insert(ObjectIdentifier(account))
            }
        }
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        self.stream = stream
        observer = Lock(nil)
        let made = NotificationCenter.default.addObserver(forName: .CKAccountChanged, object: nil, queue: nil)
        {
            [posts, senders] post in
            guard let sender = post.object.map({ ObjectIdentifier($0 as AnyObject) }),
                senders.contains(sender)
            else { return }
            posts.withLock { $0 += 1 }
            continuation.yield()
        }
        nonisolated(unsafe) let kept = made
        observer.withLock { $0 = kept }
    }

    func end() {
        observer.withLock { $0.map(NotificationCenter.default.removeObserver) }
    }
}
