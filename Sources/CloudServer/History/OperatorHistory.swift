import CloudService
import CloudWire
import HTTPServer
import System

/// The endpoints for current and past activity: requests, time lines and errors.
struct OperatorHistory: Sendable {
    static let requestsMax = 200
    /// Maximum rows of the history and of a store that one request reads: of users by size, or of counted
    /// changes.
    static let rowsReadMax = 120_000
    private static let requestsUsual = 50
    private static let neighboursMax = 5
    private static let liveSeconds: Int64 = 3_600

    private let history: RequestHistory?
    private let stores: HistoryStores
    private let limits: AssetLimits
    private let clock: any TimeSource
    /// Returns the current metrics.
    private let gauges = Lock<(@Sendable () -> ServerStatus.Gauges?)?>(nil)

    init(_ history: RequestHistory?, _ stores: HistoryStores, _ options: CloudServerOptions) {
        self.history = history
        self.stores = stores
        limits = options.limits.assets
        clock = options.clock
    }

    /// Sets the source of the current metrics.
    func setGauges(_ gauges: @escaping @Sendable () -> ServerStatus.Gauges?) {
        self.gauges.withLock { $0 = gauges }
    }

    func answer(_ endpoint: HistoryEndpoint, _ request: OperatorRequest) throws {
        switch endpoint {
        case .live: try sendLive(request)
        case .hours: try sendHours(request)
        case .requests: try sendRequests(request)
        case .request(let id): try sendRequest(id: id, request)
        case .slow(let container): try OperatorSlow(history: self).send(container, request)
        case .sync(let container):
            let sync = OperatorSync(history: self, report: SyncReport(stores))
            guard let user = try request.user else { return try sync.sendUsers(of: container, request) }
            try sync.sendDevices(of: user, in: container, request)
        case .usage(let container):
            try OperatorUsage(stores: stores, limits: limits).sendUsers(of: container, request)
        case .zonesUsage(let container):
            guard let user = try request.user else {
                throw Refusal.badRequest("usage/zones needs the query item user, the record name of a user")
            }
            try OperatorUsage(stores: stores, limits: limits).sendZones(of: user, in: container, request)
        }
    }

    /// Runs a read of the history.
    ///
    /// - Throws: a `WireError` if the history is turned off, or can't be read now.
    func read<Result>(_ body: (HistoryFile) throws -> Result) throws -> Result {
        guard let history else { throw Refusal.noHistory }
        do {
            return try history.read(body)
        } catch let error as WireError {
            throw error
        } catch {
            throw Refusal.cannotReadHistory
        }
    }

    /// Responds with one point per second.
    func sendLive(_ request: OperatorRequest) throws {
        let now = clock.nowMilliseconds() / 1_000
        let after = request.head.queryValue("after").flatMap { Int64($0) } ?? 0
        let place = try Self.place(request.head)
        let (points, codes, operations) = try read { file in
            (
                try file.points(.second, from: max(after + 1, now - Self.liveSeconds), of: place),
                try file.sums("code", from: now - Self.liveSeconds, of: place),
                try file.sums("operation", from: now - Self.liveSeconds, of: place)
            )
        }
        request.reply.send(
            JSONValue.object([
                "nowSecond": .integer(now),
                "runs": try runs(from: now - Self.liveSeconds),
                "points": .array(points.map { JSONValue($0.point, "second", $0.start) }),
                "gauges": (gauges.withLock { $0 }?()).map { JSONValue($0) } ?? .object([:]),
                "codes": .array(
                    Self.sorted(codes).map {
                        .object(["code": .string($0.name), "count": .integer($0.point.requests)])
                    }),
                "operations": .array(Self.sorted(operations).map { JSONValue(operation: $0.name, $0.point) }),
            ]))
    }

    /// Responds with one point per hour.
    func sendHours(_ request: OperatorRequest) throws {
        let now = clock.nowMilliseconds() / 1_000
        let place = try Self.place(request.head)
        let points = try read { try $0.points(.hour, from: now - 31 * 86_400, of: place) }
        request.reply.send(
            JSONValue.object([
                "nowSecond": .integer(now), "runs": try runs(from: now - 31 * 86_400),
                "points": .array(points.map { JSONValue($0.point, "hour", $0.start) }),
            ]))
    }

    /// Returns the times during which the server ran. There are no points outside of them.
    private func runs(from second: Int64) throws -> JSONValue {
        .array(
            try (history?.runs(from: second * 1_000) ?? []).map { run in
                .object(["start": .integer(run.start / 1_000), "end": .integer(run.end / 1_000)])
            })
    }

    /// Responds with requests, newest first, or with those since a number.
    func sendRequests(_ request: OperatorRequest) throws {
        let page = try read { try $0.page(Self.query(request.head)) }
        request.reply.send(
            JSONValue.members([
                "requests": .array(page.entries.map { JSONValue($0) }),
                "before": page.before.map { .integer($0) } ?? .null, "newest": .integer(page.newest),
                "oldestMilliseconds": page.oldestMilliseconds.map { .integer($0) },
                "droppedCount": .count(history?.droppedCount ?? 0),
            ]))
    }

    /// Responds with all details of a request.
    func sendRequest(id: String, _ request: OperatorRequest) throws {
        guard let found = try read({ try $0.request(id: id, neighboursMax: Self.neighboursMax) }) else {
            throw Refusal.noSuchRequest
        }
        request.reply.send(
            JSONValue.object([
                "request": JSONValue(found.request), "before": .array(found.before.map { JSONValue($0) }),
                "after": .array(found.after.map { JSONValue($0) }),
            ]))
    }

    private static func query(_ head: HTTPRequestHead) -> HistoryQuery {
        func text(_ name: String) -> String? { head.queryValue(name).flatMap { $0.isEmpty ? nil : $0 } }
        func number(_ name: String) -> Int64? { text(name).flatMap { Int64($0) } }
        var query = HistoryQuery()
        query.before = number("before")
        query.after = number("after")
        query.limit = min(max(1, number("limit").map { Int(clamping: $0) } ?? requestsUsual), requestsMax)
        query.id = text("id")
        query.container = text("container")
        query.environment = text("environment")
        query.user = text("user")
        query.session = text("session")
        query.zone = text("zone")
        query.operation = text("operation")
        query.database = text("database")
        query.administrator = text("administrator")
        query.record = text("record")
        query.code = text("code")
        query.slowMilliseconds = number("slow")
        query.fromMilliseconds = number("from")
        query.toMilliseconds = number("to")
        return query
    }

    private static func place(_ head: HTTPRequestHead) throws -> HistoryPlace {
        guard let container = head.queryValue("container"), !container.isEmpty else { return .all }
        guard let environment = head.queryValue("environment"), !environment.isEmpty else {
            throw Refusal.badRequest("a container needs an environment: development or production")
        }
        return HistoryPlace(container: container, environment: environment)
    }

    private static func sorted(_ sums: [String: HistoryPoint]) -> [(name: String, point: HistoryPoint)] {
        sums.map { ($0.key, $0.value) }.sorted { ($1.point.requests, $0.name) < ($0.point.requests, $1.name) }
    }
}

/// The endpoints of the history.
enum HistoryEndpoint: Hashable {
    case live, hours, requests
    case request(id: String)
    case sync(CloudService.Container), slow(CloudService.Container)
    case usage(CloudService.Container), zonesUsage(CloudService.Container)

    /// The container in the path.
    var container: CloudService.Container? {
        switch self {
        case .live, .hours, .requests, .request: nil
        case .sync(let container), .slow(let container), .usage(let container), .zonesUsage(let container):
            container
        }
    }

    /// - Parameter path: the path after the container's environment. Nil for other endpoints.
    init?(_ path: String, in container: CloudService.Container) {
        switch path {
        case "sync": self = .sync(container)
        case "slow": self = .slow(container)
        case "usage": self = .usage(container)
        case "usage/zones": self = .zonesUsage(container)
        default: return nil
        }
    }

    /// - Parameter path: the path after the API's prefix. Nil for other endpoints.
    init?(_ path: String) {
        switch path {
        case "live": self = .live
        case "live/hours": self = .hours
        case "requests": self = .requests
        default:
            let parts = path.pathSegments()
            guard parts.count == 2, parts[0] == "requests", !parts[1].isEmpty else { return nil }
            self = .request(id: parts[1])
        }
    }
}

extension JSONValue {
    fileprivate init(_ gauges: ServerStatus.Gauges) {
        self = .object([
            "connections": .count(gauges.connections), "polls": .count(gauges.polls),
            "environmentsOpen": .count(gauges.environmentsOpen),
        ])
    }

    fileprivate init(_ point: HistoryPoint, _ unit: String, _ start: Int64) {
        self = .members([
            unit: .integer(start), "requests": .integer(point.requests), "errors": .integer(point.errors),
            "milliseconds50": point.times.milliseconds(atPart: 0.5).map { .integer($0) },
            "milliseconds99": point.times.milliseconds(atPart: 0.99).map { .integer($0) },
            "bytesIn": .integer(point.bytesIn), "bytesOut": .integer(point.bytesOut),
        ])
    }

    fileprivate init(operation: String, _ point: HistoryPoint) {
        self = .members([
            "operation": .string(operation), "count": .integer(point.requests),
            "milliseconds50": point.times.milliseconds(atPart: 0.5).map { .integer($0) },
            "milliseconds99": point.times.milliseconds(atPart: 0.99).map { .integer($0) },
        ])
    }

    /// An entry with its detail, if that was read.
    package init(_ entry: HistoryEntry) {
        var members: [String: JSONValue] = [:]
        if case .object(let detail)? = entry.detail { members = detail }
        let texts = [
            "id": entry.id, "method": entry.method, "path": entry.path, "operation": entry.operation,
            "container": entry.container, "environment": entry.environment, "database": entry.database,
            "user": entry.user, "session": entry.session, "client": entry.client, "address": entry.address,
            "code": entry.code, "administrator": entry.administrator,
        ]
        for (name, text) in texts { if let text { members[name] = .string(text) } }
        let numbers = [
            "number": entry.number, "timeMilliseconds": entry.timeMilliseconds,
            "milliseconds": entry.milliseconds, "status": Int64(entry.status),
            "bytesIn": Int64(entry.bytesIn), "bytesOut": Int64(entry.bytesOut),
            "groupRequests": Int64(entry.groupRequests), "recordsCount": Int64(entry.recordsCount),
        ]
        for (name, number) in numbers { members[name] = .integer(number) }
        members["recordErrors"] = .object(entry.recordErrors.mapValues { .count($0) })
        members["zones"] = .array(entry.zones.map { .string($0) })
        self = .object(members)
    }
}

extension Refusal {
    static let noHistory = WireError(
        .notFound, reason: "the server keeps no request history: it was started with --history off",
        ckErrorCode: 11)

    static let cannotReadHistory = WireError(
        .tryAgainLater, reason: "the request history can't be read now", retryAfterSeconds: 2, ckErrorCode: 6)

    static let noSuchRequest = WireError(
        .notFound,
        reason: "no request with this id is in the history: it is too old, or the id is another's",
        ckErrorCode: 11)
}
