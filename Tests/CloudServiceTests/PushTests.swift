import CloudStore
import CloudWire
import Dispatch
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// Asks of subscriptions, devices and pushes.
extension TestService {
    func subscriptions(
        _ kind: SubscriptionOperation.Kind, _ subscriptions: [WireSubscription], database: String = "private",
        token: String? = "ada"
    ) throws -> [SubscriptionResult] {
        let operations = subscriptions.map { SubscriptionOperation(operationType: kind, subscription: $0) }
        return try ask(
            "subscriptions/modify", SubscriptionsModifyRequest(operations: operations),
            as: SubscriptionsResponse.self, database: database, token: token
        ).subscriptions
    }

    func subscribe(_ id: String = "all", zone: ZoneID? = nil, user: String = "ada") throws {
        let subscription = WireSubscription(
            subscriptionID: id, subscriptionType: zone == nil ? .database : .zone, zoneID: zone)
        #expect(try subscriptions(.create, [subscription], token: user).allSatisfy { $0.error == nil })
    }

    func deviceRequest(_ endpoint: String, _ message: some JSONMessage, user: String?, clientID: String?)
        throws
        -> WireRequest
    {
        var request = request("", try message.json(), token: user)
        request.path = "/device/1/\(Self.container.identifier)/\(Self.container.environment)/\(endpoint)"
        if let clientID { request.query.append(("clientId", clientID)) }
        return request
    }

    func device(_ name: String?, user: String = "ada") throws -> TokensResponse {
        let request = try deviceRequest(
            "tokens/create", TokensCreateRequest(apnsEnvironment: .development), user: user, clientID: name)
        return try read(service.respond(to: request), as: TokensResponse.self)
    }

    /// Saves a record from a device, and prepares the pushes unless it is told not to.
    func save(
        _ name: String, from device: String?, in zone: ZoneID = zone, user: String = "ada",
        prepares: Bool = true
    ) throws {
        let message = RecordsModifyRequest(operations: [operation(.forceUpdate, name)], zoneID: zone)
        var request = request("records/modify", try message.json(), token: user)
        if let device { request.query.append(("clientId", device)) }
        #expect(
            try read(service.respond(to: request), as: RecordsModifyResponse.self).records.summaries == [
                "saved"
            ])
        if prepares { while try service.preparePushes() {} }
    }

    /// The subscriptions of the pushes that wait for a device, after taking and acknowledging all of them.
    func pushes(_ device: TokensResponse) throws -> [String] {
        var names: [String] = []
        while let push = try service.takePush(apnsToken: device.apnsToken) {
            names.append(try PushPayload(json: push.payload).ck.cause?.subscriptionID ?? "?")
            try service.acknowledgePush(apnsToken: device.apnsToken, notificationID: push.notificationID)
        }
        return names
    }
}

/// A store in memory on a disk that is full for some writes.
private final class RefusingStore: CloudStore {
    private let store = MemoryCloudStore()
    private let left = Lock(0)

    func refuse(writes count: Int) { left.withLock { $0 = count } }

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        let isRefused = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if isRefused { throw CloudStoreError.diskFull(path: "/disk") }
        return try store.write(body)
    }
}

extension SubscriptionResult {
    var error: WireError? { if case .error(let error) = self { error } else { nil } }
    var subscription: WireSubscription? { if case .subscription(let found) = self { found } else { nil } }
}

@Suite struct SubscriptionTests {
    let cloud: TestService

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
    }

    @Test func aSubscriptionIsFoundAsItWasMadeUntilItIsDeleted() throws {
        var info = WireNotificationInfo()
        info.alertBody = "Something changed"
        let made = WireSubscription(
            subscriptionID: "todos", subscriptionType: .zone, zoneID: TestService.zone, notificationInfo: info
        )
        let answer = try #require(try cloud.subscriptions(.create, [made]).first?.subscription)
        #expect(answer.zoneID?.ownerRecordName == "_ada" && answer.notificationInfo == info)
        func list(_ user: String = "ada") throws -> [SubscriptionResult] {
            try cloud.ask(
                "subscriptions/list", SubscriptionsListRequest(), as: SubscriptionsResponse.self, token: user
            ).subscriptions
        }
        #expect(try list() == [.subscription(answer)])
        #expect(try list("bob") == [])
        let asked = ["todos", "other"].map { WireSubscription(subscriptionID: $0) }
        let found = try cloud.ask(
            "subscriptions/lookup", SubscriptionsLookupRequest(subscriptions: asked),
            as: SubscriptionsResponse.self
        ).subscriptions
        #expect(found.first == .subscription(answer))
        #expect(
            found.last?.error?.serverErrorCode == .notFound && found.last?.error?.subscriptionID == "other")
        let gone = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "todos")])
        #expect(gone == [.subscription(WireSubscription(subscriptionID: "todos", deleted: true))])
        #expect(try list() == [])
        let again = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "todos")])
        #expect(again.first?.error?.serverErrorCode == .notFound)
    }

    @Test func aSubscriptionThatIsMadeTwiceIsReplaced() throws {
        try cloud.subscribe("s", zone: TestService.zone)
        try cloud.subscribe("s")
        let update = WireSubscription(subscriptionID: "s", subscriptionType: .database)
        #expect(try cloud.subscriptions(.update, [update]).first?.subscription?.subscriptionType == .database)
        let missing = WireSubscription(subscriptionID: "t", subscriptionType: .database)
        #expect(try cloud.subscriptions(.update, [missing]).first?.error?.serverErrorCode == .notFound)
    }

    @Test func whatCannotBeSubscribedToIsRefusedByName() throws {
        func code(_ subscription: WireSubscription, database: String = "private") throws -> ServerErrorCode? {
            try cloud.subscriptions(.create, [subscription], database: database).first?.error?.serverErrorCode
        }
        let all = WireSubscription(subscriptionID: "x", subscriptionType: .database)
        var query = WireSubscription(subscriptionID: "x", subscriptionType: .query)
        query.query = RecordQuery(recordType: "todo")
        #expect(try code(query) == .badRequest)
        query.firesOn = [.create]
        #expect(try code(query) == .notFound, "nobody knows the type")
        try cloud.learn()
        #expect(try code(query) == nil)
        query.query?.recordType = nil
        #expect(try code(query) == .badRequest)
        #expect(try code(WireSubscription(subscriptionID: "x")) == .badRequest)
        var zone = WireSubscription(subscriptionID: "x", subscriptionType: .zone)
        #expect(try code(zone) == .badRequest, "the default zone has no feed")
        zone.zoneID = ZoneID(zoneName: "none")
        #expect(try code(zone) == .zoneNotFound)
        zone.zoneID = ZoneID(zoneName: "todos", ownerRecordName: "_bob")
        #expect(try code(zone) == .zoneNotFound)
        #expect(try code(WireSubscription(subscriptionID: "", subscriptionType: .database)) == .badRequest)
        #expect(try code(all, database: "public") == .badRequest)
        #expect(try code(zone, database: "public") == .badRequest)
        let error = #expect(throws: WireError.self) { try code(all, database: "shared") }
        #expect(error?.serverErrorCode == .badRequest)
        let twice = #expect(throws: WireError.self) { try cloud.subscriptions(.create, [all, all]) }
        #expect(twice?.serverErrorCode == .badRequest)
        #expect(throws: WireError.self) { try cloud.subscriptions(.create, [all], token: nil) }
    }

    @Test func aUserHasSoManySubscriptionsAndDevicesAndNotMore() throws {
        var limits = ServiceLimits()
        limits.subscriptionsMax = 2
        limits.subscriptionBytesMax = 200
        limits.devicesMax = 2
        let cloud = TestService(limits: limits)
        for id in ["a", "b", "a"] { try cloud.subscribe(id) }
        let third = WireSubscription(subscriptionID: "c", subscriptionType: .database)
        #expect(try cloud.subscriptions(.create, [third]).first?.error?.serverErrorCode == .quotaExceeded)
        var large = WireSubscription(subscriptionID: "a", subscriptionType: .database)
        large.notificationInfo = WireNotificationInfo()
        large.notificationInfo?.alertBody = String(repeating: "x", count: 300)
        #expect(try cloud.subscriptions(.create, [large]).first?.error?.serverErrorCode == .badRequest)
        let first = try cloud.device("first")
        cloud.clock.advance(bySeconds: 1)
        let second = try cloud.device("second")
        cloud.clock.advance(bySeconds: 1)
        let again = try cloud.device("first")
        #expect(again == first, "the same device has the same token")
        cloud.clock.advance(bySeconds: 1)
        let newest = try cloud.device("third")
        #expect(throws: WireError.self) { try cloud.pushes(second) }
        #expect(try cloud.pushes(first) == [] && cloud.pushes(newest) == [])
    }
}

@Suite struct PushTests {
    let cloud: TestService
    let phone: TokensResponse
    let laptop: TokensResponse

    init() throws {
        cloud = TestService()
        try cloud.zones(.create)
        phone = try cloud.device("phone")
        laptop = try cloud.device("laptop")
    }

    @Test func aChangeIsNotifiedToTheOtherDevicesAndNotToItsMaker() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        #expect(try cloud.pushes(phone) == [])
        #expect(try cloud.pushes(laptop) == ["all"])
        #expect(try cloud.pushes(laptop) == [], "what was acknowledged does not come again")
    }

    @Test func changesOfSeveralDevicesAreNotifiedToEachOfThem() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone", prepares: false)
        try cloud.save("b", from: "laptop", prepares: false)
        try cloud.save("c", from: "phone")
        #expect(try cloud.pushes(phone) == ["all"])
        #expect(try cloud.pushes(laptop) == ["all"])
    }

    @Test func aChangeFromAnUnnamedDeviceIsNotifiedToAll() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone", prepares: false)
        try cloud.save("b", from: nil)
        #expect(try cloud.pushes(phone) == ["all"] && cloud.pushes(laptop) == ["all"])
    }

    @Test func aZoneSubscriptionNotifiesOfItsZoneOnly() throws {
        let other = ZoneID(zoneName: "other")
        try cloud.zones(.create, [other])
        try cloud.subscribe("todos", zone: TestService.zone)
        try cloud.save("a", from: "phone", in: other)
        #expect(try cloud.pushes(laptop) == [])
        try cloud.save("a", from: "phone")
        let push = try #require(try cloud.service.takePush(apnsToken: laptop.apnsToken))
        let cause = try PushPayload(json: push.payload).ck
        #expect(cause.cause?.kind == .zone && cause.cause?.zoneName == "todos")
        #expect(cause.cause?.ownerRecordName == "_ada" && cause.cause?.database == .private)
        #expect(cause.userRecordName == "_ada" && cause.notificationID == push.notificationID)
        #expect(cause.containerIdentifier == TestService.container.identifier)
    }

    @Test func eachMatchingSubscriptionIsNotifiedOnce() throws {
        try cloud.subscribe("all")
        try cloud.subscribe("todos", zone: TestService.zone)
        for name in ["a", "b", "c"] { try cloud.save(name, from: "phone") }
        #expect(try cloud.pushes(laptop).sorted() == ["all", "todos"])
    }

    @Test func createdAndDeletedZonesAreListedToo() throws {
        try cloud.subscribe()
        try cloud.zones(.create, [ZoneID(zoneName: "new")])
        try cloud.service.preparePushes()
        #expect(try cloud.pushes(laptop) == ["all"])
        try cloud.zones(.delete, [ZoneID(zoneName: "new")])
        try cloud.service.preparePushes()
        #expect(try cloud.pushes(laptop) == ["all"])
    }

    @Test func anotherUsersChangesAreNotReported() throws {
        try cloud.subscribe()
        try cloud.zones(.create, token: "bob")
        try cloud.save("a", from: "bobs", user: "bob")
        #expect(try cloud.pushes(phone) == [] && cloud.pushes(laptop) == [])
    }

    @Test func aPushIsThereUntilItIsAcknowledgedAndALaterChangeIsNotLost() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        let first = try #require(try cloud.service.takePush(apnsToken: laptop.apnsToken))
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) == first)
        try cloud.save("b", from: "phone")
        try cloud.service.acknowledgePush(apnsToken: laptop.apnsToken, notificationID: first.notificationID)
        let second = try #require(try cloud.service.takePush(apnsToken: laptop.apnsToken))
        #expect(second.notificationID != first.notificationID)
        #expect(
            try cloud.service.takePush(
                apnsToken: laptop.apnsToken, acknowledging: second.notificationID) == nil)
    }

    @Test func aSubscriptionThatIsDeletedTakesItsPushesAlong() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "all")])
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) == nil)
        try cloud.subscribe()
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) == nil)
    }

    @Test func aWriteWithoutSubscribersLeavesNoTask() throws {
        let store = MemoryCloudStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.save("a", from: "phone", prepares: false)
        #expect(try store.read { try $0.pushTasks(after: nil, tasksMax: 1) }.rows.isEmpty)
        try cloud.subscribe()
        try cloud.save("a", from: "phone", prepares: false)
        #expect(try store.read { try $0.pushTasks(after: nil, tasksMax: 1) }.rows.count == 1)
        _ = try cloud.subscriptions(.delete, [WireSubscription(subscriptionID: "all")])
        while try cloud.service.preparePushes() {}
        try cloud.save("b", from: "phone", prepares: false)
        #expect(try store.read { try $0.pushTasks(after: nil, tasksMax: 1) }.rows.isEmpty)
    }

    @Test func aRejectedWriteIsNotNotified() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        #expect(try cloud.pushes(laptop) == ["all"])
        #expect(try cloud.modify([operation(.create, "a")]).summaries == ["CONFLICT"])
        try cloud.service.preparePushes()
        #expect(try cloud.pushes(laptop) == [])
    }

    @Test func onlyTheHolderOfATokenTakesItsPushes() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        for token in ["", "x", String(laptop.apnsToken.dropLast()), String(repeating: "a", count: 64)] {
            let error = #expect(throws: WireError.self) { try cloud.service.takePush(apnsToken: token) }
            #expect(error?.serverErrorCode == .notFound && error?.reason?.contains("tokens/create") == true)
        }
        #expect(laptop.apnsToken.count == 64 && laptop.apnsToken != phone.apnsToken)
        #expect(try cloud.pushes(laptop) == ["all"])
    }

    @Test func aTokenIsRegisteredByItsOwnUserOnly() throws {
        func register(_ token: String, user: String?, clientID: String?) throws -> TokensResponse {
            let request = try cloud.deviceRequest(
                "tokens/register", TokensRegisterRequest(apnsEnvironment: .development, apnsToken: token),
                user: user, clientID: clientID)
            return try cloud.read(cloud.service.respond(to: request), as: TokensResponse.self)
        }
        #expect(try register(phone.apnsToken, user: "ada", clientID: "phone") == phone)
        for (token, user) in [(phone.apnsToken, "bob"), ("made up", "ada")] {
            let error = #expect(throws: WireError.self) { try register(token, user: user, clientID: nil) }
            #expect(error?.serverErrorCode == .notFound)
        }
        let error = #expect(throws: WireError.self) {
            try register(phone.apnsToken, user: nil, clientID: nil)
        }
        #expect(error?.serverErrorCode == .authenticationRequired)
        try cloud.subscribe()
        try cloud.save("a", from: "laptop")
        #expect(try register(phone.apnsToken, user: "ada", clientID: "new name") == phone)
        #expect(try cloud.pushes(phone) == ["all"], "what waits goes along with the name")
        try cloud.save("b", from: "new name")
        #expect(try cloud.pushes(phone) == [])
    }

    /// What waits for a device that gets another name goes along as it is.
    @Test func aDeviceThatIsRenamedKeepsAllThatWaits() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        let name = try #require(try cloud.list().notifications.first?.notificationID)
        let laptop = try cloud.device("laptop")
        try cloud.markAsRead([name], from: "phone")
        let before = try #require(try cloud.service.takePush(apnsToken: laptop.apnsToken))
        #expect(try PushPayload(json: before.payload).ck.readNotificationIDs == [name])
        let message = TokensRegisterRequest(
            apnsEnvironment: .development, apnsToken: laptop.apnsToken, clientID: "other")
        let request = try cloud.deviceRequest("tokens/register", message, user: "ada", clientID: nil)
        #expect(cloud.service.respond(to: request).status == 200)
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) == before)
    }

    /// Who is to be rung stays in mind until the bell has rung.
    @Test func aFailedStepKeepsAllNotifications() throws {
        let store = FullStore()
        let cloud = TestService(store: store)
        try cloud.zones(.create)
        try cloud.subscribe()
        let laptop = try cloud.device("laptop")
        try cloud.save("a", from: "phone")
        let name = try #require(try cloud.list().notifications.first?.notificationID)
        let told = Lock<[String]>([])
        cloud.service.setPushListener { tokens in told.withLock { $0 += tokens } }
        let message = NotificationsReadRequest(notificationIDs: [name])
        let request = try cloud.deviceRequest(
            "notifications/read", message, user: "ada", clientID: "phone")
        #expect(cloud.service.respond(to: request).status == 200)
        store.isFull.withLock { $0 = true }
        #expect(throws: CloudStoreError.self) { try cloud.service.preparePushes() }
        store.isFull.withLock { $0 = false }
        while try cloud.service.preparePushes() {}
        #expect(told.withLock { $0 } == [laptop.apnsToken])
    }

    @Test func theCouriersAddressIsThatOfTheServer() throws {
        #expect(
            phone.webcourierURL
                == "/device/1/iCloud.com.example.todo/development/courier?token=\(phone.apnsToken)")
        var request = try cloud.deviceRequest(
            "tokens/create", TokensCreateRequest(apnsEnvironment: .development, clientID: "phone"),
            user: "ada",
            clientID: nil)
        request.headers.append(("host", "localhost:8080"))
        let named = try cloud.read(cloud.service.respond(to: request), as: TokensResponse.self)
        #expect(named.webcourierURL == "http://localhost:8080" + phone.webcourierURL)
        let service = CloudService(
            store: MemoryCloudStore(), clock: cloud.clock, random: SeededRandomSource(seed: 1),
            publicURL: "https://cloud.example.com", users: ["ada": TestService.ada])
        let response = try cloud.read(service.respond(to: request), as: TokensResponse.self)
        #expect(
            response.webcourierURL.hasPrefix("https://cloud.example.com/device/1/iCloud.com.example.todo/"))
    }

    @Test func inactiveDevicesAndOldPushesAreDiscarded() throws {
        try cloud.subscribe()
        try cloud.save("a", from: "phone")
        let days = 86_400.0
        cloud.clock.advance(bySeconds: 13 * days)
        #expect(try cloud.service.pruneOutdated() == false)
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) != nil)
        cloud.clock.advance(bySeconds: 2 * days)
        try cloud.service.pruneOutdated()
        #expect(try cloud.service.takePush(apnsToken: laptop.apnsToken) == nil)
        cloud.clock.advance(bySeconds: 50 * days)
        try cloud.service.pruneOutdated()
        #expect(try cloud.pushes(laptop) == [], "it has asked since")
        #expect(throws: WireError.self) { try cloud.pushes(phone) }
    }

    @Test func moreTasksThanOneStepProcessesTakeSeveral() throws {
        try cloud.subscribe()
        let zones = (0..<150).map { ZoneID(zoneName: "zone\($0)") }
        for number in 1..<100 { try cloud.subscribe("s\(number)") }
        try cloud.zones(.create, zones)
        var steps = 1
        while try cloud.service.preparePushes() { steps += 1 }
        #expect(steps > 2)
        #expect(try cloud.pushes(laptop).count == 100)
    }

    /// What was written before the process ended is told by the next one.
    @Test func aChangeBeforeACrashIsNotifiedAtTheNextStart() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("store.db")
        let before = TestService(store: try SQLiteCloudStore(path: path))
        try before.zones(.create)
        try before.subscribe()
        let laptop = try before.device("laptop")
        try before.save("a", from: "phone", prepares: false)
        let after = TestService(store: try SQLiteCloudStore(path: path), seed: 2)
        let ready = DispatchSemaphore(value: 0)
        let told = Lock<[String]>([])
        after.service.setPushListener { tokens in
            told.withLock { $0 += tokens }
            ready.signal()
        }
        let thread = CloudServiceThread(after.service)
        #expect(ready.wait(timeout: .now() + 30) == .success)
        thread.stop()
        #expect(told.withLock { $0 } == [laptop.apnsToken])
        #expect(try after.pushes(laptop) == ["all"])
    }

    @Test func notificationsDelayedByAFullDiskAreSentLaterWithoutARequest() throws {
        let store = RefusingStore()
        let before = TestService(store: store)
        try before.zones(.create)
        try before.subscribe()
        let laptop = try before.device("laptop")
        try before.save("a", from: "phone", prepares: false)
        var groupLimits = GroupLimits()
        groupLimits.retryMilliseconds = 10
        let after = TestService(store: store, seed: 2, groupLimits: groupLimits)
        let ready = DispatchSemaphore(value: 0)
        after.service.setPushListener { _ in ready.signal() }
        store.refuse(writes: 3)
        let thread = CloudServiceThread(after.service)
        #expect(ready.wait(timeout: .now() + 30) == .success)
        thread.stop()
        #expect(try after.pushes(laptop) == ["all"])
    }

    @Test func onTheThreadsAPushIsReadyWhenItsWriteIsAnsweredAndComesToTheListener() throws {
        let folder = try TemporaryFolder()
        let cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
        try cloud.zones(.create)
        try cloud.subscribe()
        let laptop = try cloud.device("laptop")
        let ready = DispatchSemaphore(value: 0)
        cloud.service.setPushListener { tokens in
            #expect(tokens == [laptop.apnsToken])
            ready.signal()
        }
        let thread = CloudServiceThread(cloud.service)
        let message = RecordsModifyRequest(operations: [operation(.create, "a")], zoneID: TestService.zone)
        var request = cloud.request("records/modify", try message.json())
        request.query.append(("clientId", "phone"))
        thread.send(request) { _ in }
        #expect(ready.wait(timeout: .now() + 30) == .success)
        let taken = Lock<[CourierPush?]>([])
        let done = DispatchSemaphore(value: 0)
        @Sendable func take(acknowledging name: String?) {
            thread.takePush(apnsToken: laptop.apnsToken, acknowledging: name) { result in
                taken.withLock { $0.append(try? result.get()) }
                done.signal()
            }
        }
        take(acknowledging: nil)
        #expect(done.wait(timeout: .now() + 30) == .success)
        let push = try #require(taken.withLock { $0[0] })
        take(acknowledging: push.notificationID)
        #expect(done.wait(timeout: .now() + 30) == .success)
        thread.stop()
        #expect(taken.withLock { $0 } == [push, nil])
    }
}
