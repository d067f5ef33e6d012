import CloudKit
internal import CloudWire

/// A request with items that the test has scheduled to fail. The service gets the other items, and its response is
/// merged with the failures.
struct ItemFaults: Sendable {
    /// The keys of the items in the request, and of their results in the response, in the same order.
    private struct Lists {
        let request: String
        let answer: String

        init?(_ kind: RequestKind) {
            switch kind {
            case .modifyRecords: (request, answer) = ("operations", "records")
            case .fetchRecords: (request, answer) = ("records", "records")
            case .modifyRecordZones: (request, answer) = ("operations", "zones")
            case .fetchRecordZones, .fetchRecordZoneChanges: (request, answer) = ("zones", "zones")
            case .modifySubscriptions: (request, answer) = ("operations", "subscriptions")
            case .fetchSubscriptions: (request, answer) = ("subscriptions", "subscriptions")
            default: return nil
            }
        }
    }

    /// The request for the other items; nil if none is left.
    private(set) var rest: WireRequest?
    private let kind: RequestKind
    private let answerList: String
    /// The failure of each item; nil for an item that the service handles.
    private let failures: [WireError?]

    /// - Parameter failure: returns the scheduled failure of an item.
    /// - Returns: nil if no item of the request fails.
    init?(_ request: WireRequest, _ kind: RequestKind, failure: (TestItem) -> WireError?) {
        guard let lists = Lists(kind), let body = try? JSONValue(json: request.body),
            let elements = body[lists.request]?.array
        else { return nil }
        let zoneName = body["zoneID"]?["zoneName"]?.string ?? CKRecordZone.ID.defaultZoneName
        let items = elements.map { Self.item($0, kind, zoneName: zoneName) }
        var failures = items.map { $0.flatMap(failure) }
        guard failures.contains(where: { $0 != nil }) else { return nil }
        if body["atomic"] == .bool(true) { Self.spread(&failures, items) }
        self.kind = kind
        self.failures = failures
        answerList = lists.answer
        let left = zip(elements, failures).filter { $0.1 == nil }.map(\.0)
        guard !left.isEmpty, let json = try? body.setting(lists.request, to: .array(left)).json() else {
            return
        }
        rest = request
        rest?.body = json
    }

    private static func item(_ element: JSONValue, _ kind: RequestKind, zoneName: String) -> TestItem? {
        switch kind {
        case .modifyRecords, .fetchRecords:
            let record = kind == .modifyRecords ? element["record"] : element
            guard let name = record?["recordName"]?.string else { return nil }
            return .record(
                zoneName: record?["zoneID"]?["zoneName"]?.string ?? zoneName, recordName: name)
        case .modifyRecordZones, .fetchRecordZones, .fetchRecordZoneChanges:
            let zoneID =
                (kind == .modifyRecordZones ? element["zone"]?["zoneID"] : element["zoneID"]) ?? element
            return zoneID["zoneName"]?.string.map { .zone(zoneName: $0) }
        default:
            return (element["subscription"] ?? element)["subscriptionID"]?.string.map { .subscription($0) }
        }
    }

    /// In an atomic request, the other items of the zone fail as well.
    private static func spread(_ failures: inout [WireError?], _ items: [TestItem?]) {
        let failedZones = Set(zip(failures, items).filter { $0.0 != nil }.compactMap { $0.1?.zoneName })
        for (index, item) in items.enumerated() where failures[index] == nil {
            guard case .record(let zoneName, let recordName) = item, failedZones.contains(zoneName) else {
                continue
            }
            failures[index] = WireError(
                .atomicError, reason: "Another record of the atomic zone failed.", recordName: recordName,
                zoneID: ZoneID(zoneName: zoneName))
        }
    }

    /// Returns the response with the failures added.
    /// - Parameter response: the response for the other items; nil if none was left.
    func merged(with response: WireResponse?) -> WireResponse {
        if let response, response.status != 200 { return response }
        var body = response.flatMap { try? JSONValue(json: $0.body) } ?? .object([:])
        var results = (body[answerList]?.array ?? [])[...]
        let merged = failures.map { $0.map(JSONValue.init) ?? results.popFirst() ?? .null }
        body = body.setting(answerList, to: .array(merged))
        var answer = response ?? WireResponse(status: 200, headers: [(WireHeader.protocolVersion, "1")])
        answer.body = (try? body.json()) ?? []
        return answer
    }

    // MARK: Failures by the response

    /// Returns the response with the failures of records that a query, or a zone's changes, returned.
    static func replacingFound(
        in response: WireResponse, _ kind: RequestKind, failure: (TestItem) -> WireError?
    ) -> WireResponse {
        guard [.queryRecords, .fetchRecordZoneChanges].contains(kind), response.status == 200,
            let body = try? JSONValue(json: response.body)
        else { return response }
        let replaced: JSONValue
        if kind == .queryRecords {
            replaced = body.replacingRecords(failure)
        } else {
            let zones = (body["zones"]?.array ?? []).map { $0.replacingRecords(failure) }
            replaced = body.setting("zones", to: .array(zones))
        }
        guard replaced != body, let json = try? replaced.json() else { return response }
        var response = response
        response.body = json
        return response
    }
}

extension TestItem {
    fileprivate var zoneName: String? {
        switch self {
        case .record(let zoneName, _), .zone(let zoneName): zoneName
        case .subscription: nil
        }
    }
}

extension JSONValue {
    fileprivate init(_ error: WireError) {
        self = (try? JSONValue(json: error.json(extras: true))) ?? .null
    }

    fileprivate subscript(_ key: String) -> JSONValue? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    fileprivate var array: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    fileprivate var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    fileprivate func setting(_ key: String, to value: JSONValue) -> JSONValue {
        guard case .object(var members) = self else { return self }
        members[key] = value
        return .object(members)
    }

    /// Replaces each failing record of the list `records` with its failure.
    fileprivate func replacingRecords(_ failure: (TestItem) -> WireError?) -> JSONValue {
        guard let records = self["records"]?.array else { return self }
        let ownZone = self["zoneID"]?["zoneName"]?.string ?? CKRecordZone.ID.defaultZoneName
        let replaced = records.map { record in
            guard let name = record["recordName"]?.string else { return record }
            let zoneName = record["zoneID"]?["zoneName"]?.string ?? ownZone
            return failure(.record(zoneName: zoneName, recordName: name)).map(JSONValue.init) ?? record
        }
        return setting("records", to: .array(replaced))
    }
}
