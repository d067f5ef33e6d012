import CloudService
import CloudWire
import HTTPServer

/// A request in the history. All texts are bounded, since most of them come from clients. It contains neither
/// the query nor values of fields.
package struct HistoryEntry: Sendable {
    /// Conditions that operators search for.
    enum Notice: Int64 {
        /// A query that took long, examined many rows, or had no index.
        case slowQuery = 1
        /// The client had sent too many requests.
        case throttled = 2
        /// Production's schema lacked a type, a field or an index.
        case missingInProduction = 3
    }

    /// Grows by one with each request, also across restarts.
    package var number: Int64 = 0
    package var id: String
    package var timeMilliseconds: Int64
    package var milliseconds: Int64
    package var method: String
    package var path: String
    package var operation: String
    package var container: String?
    package var environment: String?
    package var database: String?
    package var user: String?
    package var session: String?
    package var client: String?
    package var address: String
    /// The administrator that sent it, if it is a request of the operator API.
    package var administrator: String?
    package var status: Int
    package var code: String?
    package var recordErrors: [String: Int]
    package var bytesIn: Int
    package var bytesOut: Int
    package var groupRequests: Int
    package var zones: [String]
    package var recordsCount: Int
    /// Further details in the form of `docs/OPERATOR_API.md`, or nil if there are none.
    package var detail: JSONValue?
    /// Rows that the query examined, or nil for other requests.
    var rowsExamined: Int?
    /// True if a service responded, so the container exists.
    var isOfService = false
    /// The state of the device that the request shows.
    var sync: [HistorySync] = []
    var notice: Notice?

    static let pathBytesMax = 512
    static let nameBytesMax = 255
    static let clientBytesMax = 120
    static let addressBytesMax = 64
    /// Milliseconds from which a query is slow. One that examines many rows is slow too.
    static let slowMilliseconds: Int64 = 100
    static let slowRows = 1_000
}

extension HistoryEntry {
    /// - Parameter timeMilliseconds: the time of the response.
    /// - Returns: nil for requests that aren't stored: those to the dashboard's files, health and metrics,
    ///   polls without a push, and requests of the operator API without a session.
    init?(_ summary: HTTPExchangeSummary, timeMilliseconds: Int64) {
        let note = summary.note
        guard note?.isEmptyPoll != true else { return nil }
        var place: ServicePath?
        var database: String?
        switch summary.route {
        case .health, .live, .metrics, .root, .dashboard: return nil
        case .operators:
            // Whether these are stored was decided when they were received.
            guard let note = note?.ofOperator else { return nil }
            operation = note.operation
            database = note.database
            administrator = note.administrator
        case .service(let path):
            operation = CloudService.operationNames.contains(path.endpoint) ? path.endpoint : "other"
            database = path.family == .database ? path.database : nil
            place = path
        case .courier(let path): (operation, place) = ("courier", path)
        case .asset(let path, let isUpload):
            (operation, place) = (isUpload ? "asset/upload" : "asset/file", path)
        case .signIn, .signInForm: operation = "sign-in"
        case .signOut: operation = "sign-out"
        case .sessions: operation = "sessions"
        case .nowhere: operation = "other"
        }
        func cut(_ text: String, _ bytesMax: Int) -> String {
            guard text.utf8.count > bytesMax || text.utf8.contains(where: { $0 < 0x20 }) else { return text }
            // Control characters would take six bytes each in JSON, and control terminals.
            let bytes = text.utf8.prefix(bytesMax).map { $0 < 0x20 ? UInt8(ascii: "?") : $0 }
            return String(decoding: bytes, as: UTF8.self)
        }
        let detail = note?.service.detail
        id = cut(summary.requestID, Self.addressBytesMax)
        self.timeMilliseconds = timeMilliseconds
        milliseconds = max(0, summary.milliseconds)
        method = cut(summary.method, 16)
        // It is followed by the checksum of a field's value.
        let isFile = operation == "asset/file"
        path = cut(
            isFile ? summary.path.pathSegments().prefix(6).joined(separator: "/") : summary.path,
            Self.pathBytesMax)
        let ofOperator = note?.ofOperator
        self.container = (place?.container ?? ofOperator?.container).map { cut($0, Self.nameBytesMax) }
        environment = place?.environment ?? ofOperator?.environment
        self.database = database.map { cut($0, 16) }
        user = (note?.service.userRecordName ?? ofOperator?.user).map { cut($0, Self.nameBytesMax) }
        session = detail?.sessionID.map { cut($0, Self.addressBytesMax) }
        client = note?.userAgent.map { cut($0, Self.clientBytesMax) }
        address = cut(note?.peer ?? summary.peer, Self.addressBytesMax)
        status = summary.status
        code = note?.service.errorCode ?? (summary.ending == .answered ? nil : Self.endings[summary.ending])
        recordErrors = note?.service.recordErrors ?? [:]
        bytesIn = summary.bytesIn
        bytesOut = summary.bytesOut
        groupRequests = note?.service.groupRequests ?? 0
        zones = (detail?.zoneNames ?? []).map { cut($0, Self.nameBytesMax) }
        recordsCount = detail?.recordsCount ?? 0
        rowsExamined = detail?.query?.rowsExamined
        if administrator == nil {
            notice = Self.notice(of: detail, status: status, milliseconds: milliseconds, environment)
        }
        self.detail = detail.flatMap { JSONValue($0) }
        isOfService = detail != nil
        if let detail {
            sync = syncRows(of: detail, device: note?.clientID.map { cut($0, Self.nameBytesMax) })
        }
    }

    /// Returns the state of the device, and of the zones that it fetched or changed, as shown by the request.
    private func syncRows(of detail: WireDetail, device name: String?) -> [HistorySync] {
        guard let container, let environment, let user, !user.isEmpty else { return [] }
        let key = HistorySync.Key(
            container: container, environment: environment, user: user, session: session ?? "")
        var device = HistorySync(key, at: timeMilliseconds)
        device.client = client
        device.device = name
        device.address = address
        if let code = code ?? recordErrors.keys.min() ?? detail.fetches.lazy.compactMap(\.errorCode).first {
            (device.errorCode, device.errorID, device.errorMilliseconds) = (code, id, timeMilliseconds)
        }
        var zones: [String: HistorySync] = [:]
        func inZone(_ name: String, _ change: (inout HistorySync) -> Void) {
            var key = key
            (key.database, key.zone) = (database ?? "", name)
            var row = zones[name] ?? HistorySync(key, at: timeMilliseconds)
            change(&row)
            zones[name] = row
        }
        for fetch in detail.fetches {
            inZone(fetch.zoneName) { row in
                row.fetchMilliseconds = timeMilliseconds
                row.fetchedTo = fetch.toChange
                row.fetchCode = fetch.tokenRefusal?.rawValue ?? fetch.errorCode
            }
        }
        for save in detail.saves {
            inZone(save.zoneName) { row in
                (row.saveMilliseconds, row.saveCount, row.saveID) = (timeMilliseconds, Int64(save.count), id)
            }
        }
        return [device] + zones.values.filter { !$0.key.zone.isEmpty }
    }

    /// Codes of exchanges that ended without a response.
    private static let endings: [HTTPExchangeSummary.Ending: String] = [
        .refused: "refused", .unanswered: "unanswered", .clientLeft: "client left", .tooSlow: "too slow",
        .stopped: "stopped",
    ]

    private static func notice(
        of detail: WireDetail?, status: Int, milliseconds: Int64, _ environment: String?
    ) -> Notice? {
        if detail?.missing != nil, environment == "production" { return .missingInProduction }
        if status == 429 { return .throttled }
        guard let query = detail?.query else { return nil }
        let isSlow =
            milliseconds > slowMilliseconds || query.rowsExamined > slowRows || query.missingIndex != nil
        return isSlow ? .slowQuery : nil
    }

    /// True if it failed as a whole.
    var isError: Bool { code != nil || status >= 400 || status == 0 }

    /// True if its duration is that of the server's work.
    var isTimed: Bool { operation != "courier" }
}

extension JSONValue {
    /// The parts of a detail that aren't in the entry itself, or nil if there are none.
    fileprivate init?(_ detail: WireDetail) {
        var members: [String: JSONValue] = [:]
        if let reason = detail.reason { members["reason"] = .string(reason) }
        if !detail.records.isEmpty { members["records"] = .array(detail.records.map { JSONValue($0) }) }
        if let query = detail.query { members["query"] = JSONValue(query) }
        if !detail.fetches.isEmpty { members["fetches"] = .array(detail.fetches.map { JSONValue($0) }) }
        if let missing = detail.missing {
            members["missing"] = .members([
                "recordType": .string(missing.recordType), "field": .text(missing.fieldName),
            ])
        }
        guard !members.isEmpty else { return nil }
        self = .object(members)
    }

    private init(_ record: WireDetail.Record) {
        self = .members([
            "operation": .string(record.operation), "recordType": .text(record.recordType),
            "name": .string(record.recordName), "zone": .string(record.zoneName),
            "outcome": .string(record.errorCode ?? "done"), "reason": .text(record.reason),
        ])
    }

    private init(_ query: WireDetail.Query) {
        self = .members([
            "recordType": .string(query.recordType), "filters": .array(query.filters.map { .string($0) }),
            "sorts": .array(query.sorts.map { .string($0) }), "rowsExamined": .count(query.rowsExamined),
            "missingIndex": query.missingIndex.map {
                .object(["field": .string($0.fieldName), "kind": .string($0.kind)])
            },
        ])
    }

    private init(_ fetch: WireDetail.Fetch) {
        self = .members([
            "zone": .string(fetch.zoneName), "sinceChange": fetch.sinceChange.map { .integer($0) },
            "toChange": fetch.toChange.map { .integer($0) }, "recordsCount": .count(fetch.recordsCount),
            "moreComing": .bool(fetch.moreComing), "code": .text(fetch.errorCode),
        ])
    }
}
