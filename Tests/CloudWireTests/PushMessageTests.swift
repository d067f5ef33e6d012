import CloudWire
import Testing

@Suite struct PushMessageTests {
    private func message<Message: JSONMessage>(_ name: String, as type: Message.Type) throws -> Message {
        let fixture = try #require(Fixture.all.first { $0.name == name })
        return try Message(json: fixture.bytes)
    }

    @Test func aSubscriptionsKeysBecomeTypedFields() throws {
        let request = try message("subscriptions/modify request", as: SubscriptionsModifyRequest.self)
        #expect(request.operations.map(\.operationType) == [.create, .update, .create, .delete])
        #expect(request.operations.map(\.subscription.subscriptionID) == ["all", "zone", "open", "old"])
        #expect(request.operations.map(\.subscription.subscriptionType) == [.database, .zone, .query, nil])
        #expect(
            request.operations[1].subscription.zoneID == ZoneID(zoneName: "todos", ownerRecordName: "_1"))
        let query = request.operations[2].subscription
        #expect(query.query?.recordType == "todo")
        #expect(query.firesOn?.prefix(3) == [.create, .update, .delete])
        #expect(query.notificationInfo?.titleLocalizationArgs == ["h"])
        #expect(query.notificationInfo?.unknown == ["later": .integer(1)])
        #expect(request.operations[1].unknown == ["later": .bool(true)])
        #expect(request.operations.allSatisfy { $0.subscription.unknown.isEmpty })
    }

    @Test func aSubscriptionsArrayDistinguishesSubscriptionsAndErrors() throws {
        let response = try message("subscriptions/modify response", as: SubscriptionsResponse.self)
        guard case .subscription(let made) = response.subscriptions[0],
            case .error(let error) = response.subscriptions[1],
            case .subscription(let deleted) = response.subscriptions[3]
        else {
            Issue.record("a result of another kind")
            return
        }
        #expect(made == WireSubscription(subscriptionID: "all", subscriptionType: .database))
        #expect(error.subscriptionID == "zone" && error.serverErrorCode == .zoneNotFound)
        #expect(deleted.deleted == true)
    }

    @Test func aSubscriptionOfAKindToComeSpoilsNoList() throws {
        let response = try message("subscriptions/list response", as: SubscriptionsResponse.self)
        guard case .subscription(let new) = response.subscriptions[1] else {
            Issue.record("a result of another kind")
            return
        }
        #expect(new.subscriptionType == .init(rawValue: "later"))
    }

    @Test func aTokensClientIsNamedAsAppleWritesIt() throws {
        let request = TokensCreateRequest(apnsEnvironment: .development, clientID: "phone")
        let text = String(decoding: try request.json(), as: UTF8.self)
        #expect(text == #"{"apnsEnvironment":"development","clientId":"phone"}"#)
    }

    @Test func aNotificationSaysWhatChanged() throws {
        let database = try message("courier/database response", as: PushPayload.self)
        #expect(database.ck.containerIdentifier == "iCloud.com.example.todo")
        #expect(database.ck.userRecordName == "_1")
        #expect(database.ck.cause?.kind == .database)
        #expect(database.ck.cause?.database == .private)
        #expect(database.ck.cause?.subscriptionID == "all")
        #expect(database.aps?.contentAvailable == 1)
        let zone = try message("courier/zone response", as: PushPayload.self)
        #expect(zone.ck.cause?.database == .shared && zone.ck.cause?.zoneName == "todos")
        #expect(zone.aps?.texts?.body == "Something is new" && zone.ck.isPruned == true)
        let query = try message("courier/query response", as: PushPayload.self)
        #expect(query.ck.cause?.database == .public && query.ck.cause?.reason == 2)
        #expect(query.ck.cause?.fields?["title"] == .string("Eggs"))
        #expect(query.aps?.texts?.subtitleArguments == [])
    }

    @Test(arguments: DatabaseScope.allCases)
    func aDatabasesNumberIsReadAsItWasWritten(scope: DatabaseScope) throws {
        let cause = PushCause(kind: .database, database: scope, subscriptionID: "s")
        let written = try PushPayload(ck: PushCloudPart(cause: cause)).json()
        #expect(try PushPayload(json: written).ck.cause?.database == scope)
    }

    @Test func anAlertShowsWhatTheSubscriptionWants() {
        var info = WireNotificationInfo()
        #expect(PushAlert(info) == PushAlert())
        info.alertBody = "New"
        info.soundName = "bell"
        info.shouldSendContentAvailable = true
        let alert = PushAlert(info)
        #expect(alert.texts?.body == "New" && alert.sound == "bell" && alert.contentAvailable == 1)
    }

    @Test(arguments: [
        #"{}"#, #"{"ck": 1}"#, #"{"ck": {"met": []}}"#, #"{"ck": {"met": {"dbs": "2"}}}"#,
        #"{"ck": {}, "aps": "x"}"#, #"{"ck": {"p": "x"}}"#,
    ])
    func aNotificationOfAnotherShapeIsRefused(json: String) {
        #expect(throws: JSONError.self) { try PushPayload(json: Array(json.utf8)) }
    }
}
