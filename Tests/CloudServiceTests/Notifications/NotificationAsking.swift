import CloudStore
import CloudWire
import System
import Testing

@testable import CloudService

/// Asks of query subscriptions and of the collection.
extension TestService {
    /// Lets the schema know the types and fields that the tests subscribe to, by a record where nobody looks.
    func learn() throws {
        let fields = ["list", "to", "title"].map { ($0, text("")) }
        let types = ["todo", "other"]
        let operations = types.map { type in
            operation(.create, "learned-\(type)", type: type, Dictionary(uniqueKeysWithValues: fields))
        }
        #expect(try modify(operations, zone: nil).summaries == ["saved", "saved"])
    }

    /// Subscribes to the records of a type, and returns the subscription as it is kept.
    @discardableResult
    func watch(
        _ id: String = "watch", type: String = "todo", filters: [RecordFilter] = [],
        on triggers: [WireSubscription.Trigger] = [.create, .update, .delete], zone: ZoneID? = nil,
        once: Bool? = nil, info: WireNotificationInfo? = nil, database: String = "private",
        user: String = "ada"
    ) throws -> WireSubscription {
        let subscription = WireSubscription(
            subscriptionID: id, subscriptionType: .query,
            query: RecordQuery(recordType: type, filterBy: filters), zoneID: zone, firesOn: triggers,
            firesOnce: once, notificationInfo: info)
        let result = try subscriptions(.create, [subscription], database: database, token: user).first
        if let error = result?.error { throw error }
        return try #require(result?.subscription)
    }

    /// Changes records from a device and prepares the pushes.
    func change(
        _ operations: [RecordOperation], from device: String? = nil, zone: ZoneID? = zone,
        database: String = "private", user: String = "ada"
    ) throws {
        let message = RecordsModifyRequest(operations: operations, zoneID: zone)
        var request = request("records/modify", try message.json(), database: database, token: user)
        if let device { request.query.append(("clientId", device)) }
        let answer = try read(service.respond(to: request), as: RecordsModifyResponse.self)
        #expect(answer.records.allSatisfy { $0.error == nil }, "\(answer.records.compactMap(\.error))")
        while try service.preparePushes() {}
    }

    func list(
        _ token: String? = nil, limit: Int64? = nil, unreadOnly: Bool? = nil, device: String? = nil,
        user: String? = "ada"
    ) throws -> NotificationsListResponse {
        let message = NotificationsListRequest(
            syncToken: token, resultsLimit: limit, unreadOnly: unreadOnly)
        let request = try deviceRequest("notifications/list", message, user: user, clientID: device)
        return try read(service.respond(to: request), as: NotificationsListResponse.self)
    }

    @discardableResult
    func markAsRead(_ names: [String], from device: String? = nil, user: String? = "ada") throws
        -> [CollectedNotification]
    {
        let request = try deviceRequest(
            "notifications/read", NotificationsReadRequest(notificationIDs: names), user: user,
            clientID: device)
        let answer = try read(service.respond(to: request), as: NotificationsReadResponse.self)
        while try service.preparePushes() {}
        return answer.notifications
    }

    /// Everything in the collection, page by page.
    func collection(_ user: String = "ada") throws -> [PushPayload] {
        var found: [PushPayload] = []
        var token: String?
        while true {
            let page = try list(token, user: user)
            found += page.notifications.compactMap(\.notification)
            token = page.syncToken
            if !page.moreComing { return found }
        }
    }

    /// The push that waits for the device.
    func push(_ device: TokensResponse, taking: PushTaking = .each) throws -> PushPayload? {
        try service.takePush(apnsToken: device.apnsToken, taking: taking).map {
            try PushPayload(json: $0.payload)
        }
    }
}

extension PushPayload {
    /// What happened in short, as `watch:a+`.
    var summary: String {
        let signs: [Int64: String] = [1: "+", 2: "*", 3: "-"]
        guard let cause = ck.cause else { return "?" }
        return
            "\(cause.subscriptionID ?? "?"):\(cause.recordName ?? "")\(cause.reason.flatMap { signs[$0] } ?? "")"
    }
}

func equals(_ field: String, _ value: String) -> RecordFilter {
    RecordFilter(comparator: "EQUALS", fieldName: field, fieldValue: Field(.string(value)))
}

func text(_ value: String) -> Field { Field(.string(value)) }
