import CloudStore
import CloudWire
import Testing

@testable import CloudService

@Suite struct NotificationContentTests {
    private func told(_ info: WireNotificationInfo, _ fields: [String: Field], bytesMax: Int = 4096) throws
        -> PushPayload
    {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        try cloud.watch(info: info)
        let device = try cloud.device("phone")
        try cloud.change([operation(.create, "a", fields)])
        return try #require(try cloud.push(device))
    }

    @Test func thePushHasWhatApplesHas() throws {
        var info = WireNotificationInfo()
        info.additionalFields = ["title", "count", "missing"]
        let payload = try told(info, ["title": text("Milk"), "count": Field(.int64(3)), "other": text("x")])
        let cause = try #require(payload.ck.cause)
        #expect(cause.kind == .query && cause.databaseNumber == 2 && cause.recordName == "a")
        #expect(cause.zoneName == "todos" && cause.ownerRecordName == "_ada" && cause.reason == 1)
        #expect(cause.subscriptionID == "watch")
        #expect(cause.fields == ["title": .string("Milk"), "count": .integer(3)])
        #expect(payload.ck.formatVersion == 2 && payload.ck.userRecordName == "_ada")
        #expect(payload.ck.containerIdentifier == TestService.container.identifier)
        #expect(payload.ck.isPruned == nil && payload.ck.moreCount == nil && payload.ck.notificationID != nil)
    }

    /// A subscription may name a field any number of times, and a record may have very many.
    @Test func aNotificationHasABoundHoweverOftenAFieldIsNamed() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        var info = WireNotificationInfo()
        info.alertLocalizationKey = "k"
        info.alertLocalizationArgs = Array(repeating: "title", count: 1_000)
        info.additionalFields = (0..<40).map { "x\($0)" }
        try cloud.watch(info: info)
        _ = try cloud.device("phone")
        var fields = ["title": text(String(repeating: "\u{1}", count: 4_000))]
        for number in 0..<40 { fields["x\(number)"] = text(String(repeating: "x", count: 4_000)) }
        try cloud.change([operation(.create, "a", fields)])
        while try cloud.service.preparePushes() {}
        let told = try cloud.service.store.read {
            try $0.notificationReader.notifications(of: "_ada", after: 0, notificationsMax: 9).rows
        }
        #expect(told.count == 1 && told[0].content.count < 40_000)
        let payload = try PushPayload(json: told[0].content)
        #expect(payload.ck.isPruned == true)
        #expect(payload.aps?.texts?.bodyArguments == Array(repeating: "", count: 1_000))
        #expect(payload.ck.cause?.fields?.keys.sorted() == ["x0", "x1", "x10"])
    }

    @Test func theTextsAreFilledFromTheRecord() throws {
        var info = WireNotificationInfo()
        info.alertLocalizationKey = "NEW %@ %@ %@"
        info.alertLocalizationArgs = ["title", "count", "missing"]
        info.titleLocalizationArgs = ["at"]
        info.subtitleLocalizationArgs = ["ratio"]
        info.soundName = "bell"
        info.category = "todo"
        info.shouldBadge = true
        info.shouldSendContentAvailable = true
        info.shouldSendMutableContent = true
        let payload = try told(
            info,
            [
                "title": text("Milk"), "count": Field(.int64(3)), "at": Field(.timestamp(milliseconds: 9)),
                "ratio": Field(.double(0.5)),
            ])
        let aps = try #require(payload.aps)
        #expect(aps.texts?.bodyKey == "NEW %@ %@ %@" && aps.texts?.bodyArguments == ["Milk", "3", ""])
        #expect(aps.texts?.titleArguments == ["9"] && aps.texts?.subtitleArguments == ["0.5"])
        #expect(aps.sound == "bell" && aps.category == "todo" && aps.badge == 1)
        #expect(aps.contentAvailable == 1 && aps.mutableContent == 1)
        #expect(payload.ck.cause?.fields == nil, "fields are told only when they are asked for")
    }

    @Test func theBadgeCountsWhatIsUnread() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        var info = WireNotificationInfo()
        info.shouldBadge = true
        try cloud.watch(info: info)
        try cloud.change(["a", "b", "c"].map { operation(.create, $0) })
        let page = try cloud.list()
        #expect(page.notifications.map { $0.notification?.aps?.badge } == [1, 2, 3])
        try cloud.markAsRead(page.notifications.prefix(2).map(\.notificationID))
        try cloud.change([operation(.create, "d")])
        #expect(try cloud.list(page.syncToken).notifications.last?.notification?.aps?.badge == 2)
    }

    @Test func omittedFieldsAreNeverInANotification() throws {
        var info = WireNotificationInfo()
        info.additionalFields = ["long", "bytes", "names", "secret", "place", "name"]
        let payload = try told(
            info,
            [
                "long": text(String(repeating: "x", count: 5_000)), "bytes": Field(.bytes([1])),
                "names": Field(.list(.stringList, [.string("a")])),
                "secret": Field(.string("s"), isEncrypted: true), "name": reference("b", .none),
            ])
        #expect(payload.ck.cause?.fields == ["name": .string("b")])
    }

    @Test func aPushThatIsTooLargeLosesItsPartsInApplesOrderAndSaysSo() throws {
        var cause = PushCause(
            kind: .query, database: .private, subscriptionID: "watch", zoneID: TestService.zone)
        cause.recordName = "a"
        cause.reason = 1
        cause.fields = ["title": .string(String(repeating: "x", count: 200))]
        var payload = PushPayload(
            aps: PushAlert(),
            ck: PushCloudPart(
                containerIdentifier: "iCloud.com.example", userRecordName: "_ada", notificationID: "n",
                cause: cause))
        payload.aps?.texts = PushAlert.Texts()
        payload.aps?.texts?.body = "body"
        payload.aps?.texts?.bodyArguments = ["argument"]
        var lost: [String] = []
        var size = try payload.json().count
        while size > 60 {
            let json = try payload.pruned(bytesMax: size)
            #expect(json.count <= size || size < 120)
            let cut = try PushPayload(json: json)
            #expect(cut.ck.notificationID == "n" && cut.ck.cause?.subscriptionID == "watch")
            let has: [(String, Bool)] = [
                ("cid", cut.ck.containerIdentifier != nil), ("rid", cut.ck.cause?.recordName != nil),
                ("fo", cut.ck.cause?.reason != nil), ("af", cut.ck.cause?.fields != nil),
                ("args", cut.aps?.texts?.bodyArguments != nil), ("texts", cut.aps?.texts != nil),
                ("aps", cut.aps != nil),
            ]
            for (part, isThere) in has where !isThere && !lost.contains(part) { lost.append(part) }
            #expect((cut.ck.isPruned == true) == !lost.isEmpty)
            size -= 1
        }
        #expect(lost == ["cid", "rid", "fo", "af", "args", "texts", "aps"])
    }

    @Test func theCollectionHasWholeWhatThePushHasCut() throws {
        let cloud = TestService()
        try cloud.zones(.create)
        try cloud.learn()
        var info = WireNotificationInfo()
        info.additionalFields = ["a", "b"]
        try cloud.watch(info: info)
        let device = try cloud.device("phone")
        let long = text(String(repeating: "x", count: 3_000))
        try cloud.change([operation(.create, "r", ["a": long, "b": long])])
        let push = try #require(try cloud.service.takePush(apnsToken: device.apnsToken))
        #expect(push.payload.count <= 4_096)
        let cut = try PushPayload(json: push.payload)
        #expect(cut.ck.isPruned == true && cut.ck.cause?.fields == nil && cut.ck.cause?.recordName == nil)
        let whole = try #require(try cloud.collection().first)
        #expect(
            whole.ck.cause?.fields?.count == 2 && whole.ck.cause?.recordName == "r"
                && whole.ck.isPruned == nil)
    }
}
