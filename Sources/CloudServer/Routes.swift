import CloudService
import CloudWire
import HTTPServer
import System

/// The destination of a request.
enum Route: Equatable {
    /// A service: `/database/1/{container}/{environment}/...`, and under `/device/1/` tokens and notifications.
    case service(ServicePath)
    /// A device's long poll: `/device/1/{container}/{environment}/courier`.
    case courier(ServicePath)
    /// An upload (`/asset/1/{container}/{environment}/upload`) or a download (`.../file/{checksum}/{name}`) of a file.
    case asset(ServicePath, isUpload: Bool)
    case signIn
    /// The form of the sign-in page.
    case signInForm
    case signOut
    /// The sessions of the caller's account.
    case sessions
    /// The health of the server.
    case health
    /// The liveness of the process.
    case live
    case metrics
    /// The page at `/`.
    case root
    /// The dashboard's page and its files.
    case dashboard
    /// The operator API: see `OperatorEndpoint`.
    case operators
    case nowhere

    static let dashboardPath = "/dashboard"
    static let signInPath = "/yap/1/sign-in"
    static let signInFormPath = "/yap/1/sign-in/form"
    static let signOutPath = "/yap/1/sign-out"
    static let sessionsPath = "/yap/1/sessions"

    /// - Parameter path: the path, percent-decoded once.
    init(path: String) {
        switch path {
        case Self.signInPath: self = .signIn
        case Self.signInFormPath: self = .signInForm
        case Self.signOutPath: self = .signOut
        case Self.sessionsPath: self = .sessions
        case "/yap/1/health", "/health": self = .health
        case "/health/live": self = .live
        case "/yap/1/metrics", "/metrics": self = .metrics
        case "/": self = .root
        case Self.dashboardPath: self = .dashboard
        default:
            self =
                path.hasPrefix(Self.dashboardPath + "/")
                ? .dashboard : path.hasPrefix(OperatorEndpoint.prefix) ? .operators : Self.inContainer(path)
        }
    }

    /// True if pages of other origins may use it, as CloudKit JS does.
    var isCrossOrigin: Bool {
        switch self {
        case .service, .courier, .asset, .signOut, .sessions: true
        case .signIn, .signInForm, .health, .live, .metrics, .root, .dashboard, .operators, .nowhere: false
        }
    }

    /// True if its requests count for the client's address, because no service counts them.
    var isOfStrangers: Bool {
        switch self {
        case .signIn, .signInForm, .signOut, .sessions, .root, .dashboard, .operators, .nowhere: true
        case .service, .courier, .asset, .health, .live, .metrics: false
        }
    }

    private static func inContainer(_ path: String) -> Route {
        guard let path = ServicePath(path), path.namesContainer else { return .nowhere }
        switch path.family {
        case .database: return .service(path)
        case .device where path.endpoint == "courier": return .courier(path)
        case .device where path.endpoint.hasPrefix("tokens/") || path.endpoint.hasPrefix("notifications/"):
            return .service(path)
        case .asset where path.endpoint == "upload": return .asset(path, isUpload: true)
        case .asset where path.endpoint.hasPrefix("file/"): return .asset(path, isUpload: false)
        default: return .nowhere
        }
    }
}

/// Routes the requests of an HTTP server to services, to the courier and to the server's own paths. Runs on the event
/// loops, so it never blocks.
final class Routes: HTTPHandler {
    private static let signInBytesMax = 16 << 10

    private let options: CloudServerOptions
    /// The container that all paths lead to, or nil for the container in the path.
    private let onlyContainer: CloudService.Container?
    let table: EnvironmentTable
    private let courier: Courier
    private let webhooks: WebhookSender
    let signIns: SignInHandler?
    private let operators: OperatorHandler?
    private let assets: AssetHandler
    private let log: ServerLog?
    private let history: RequestHistory?
    private let status: ServerStatus
    /// The connection count of the HTTP server, which is made after this.
    let connectionCount = Lock<(@Sendable () -> Int)?>(nil)
    let isStopping = Lock(false)
    private let strangers: AddressRate

    init(
        options: CloudServerOptions, onlyContainer: CloudService.Container?, strangers: AddressRate,
        table: EnvironmentTable, courier: Courier, webhooks: WebhookSender, signIns: SignInHandler?,
        operators: OperatorHandler?, assets: AssetHandler,
        status: ServerStatus, log: ServerLog?, history: RequestHistory?
    ) {
        self.options = options
        self.strangers = strangers
        self.onlyContainer = onlyContainer
        self.table = table
        self.courier = courier
        self.webhooks = webhooks
        self.signIns = signIns
        self.operators = operators
        self.status = status
        self.assets = assets
        self.log = log
        self.history = history
    }

    func clientAddress(of head: HTTPRequestHead) -> String? {
        options.trustsForwardedFor ? peer(of: head) : nil
    }

    func bodyPlan(for head: HTTPRequestHead) -> HTTPBodyPlan {
        if head.path.hasPrefix("/asset/1/"), case .asset(let path, let isUpload) = Route(path: head.path) {
            return assets.bodyPlan(
                for: head, path, container(of: path), isUpload: isUpload, peer: peer(of: head))
        }
        // Decided by prefix. The whole path is parsed once, in `handle`.
        let isService = head.path.hasPrefix("/database/1/") || head.path.hasPrefix("/device/1/")
        let isOfOperators = operators != nil && head.path.hasPrefix(OperatorEndpoint.prefix)
        let isSmall = head.path.hasPrefix(Route.signInPath)
        let bytesMax =
            isService
            ? options.limits.bodyBytesMax
            : isOfOperators
                ? OperatorEndpoint.bodyBytesMax(head.path, options.limits) : isSmall ? Self.signInBytesMax : 0
        let length = head.header("Content-Length").flatMap { Int($0) } ?? 0
        guard length > bytesMax else { return .collect(bytesMax: bytesMax) }
        let error = bytesMax == 0 ? Refusal.noSuchPath(head.path) : Refusal.bodyTooLarge(bytesMax: bytesMax)
        return .refuse(
            Reply.response(
                error, to: head, origin: isService ? head.header(WireHeader.origin) : nil))
    }

    func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
        let head = request.head
        // The path of an upload was parsed before its body.
        let route =
            (request.sink as? UploadSink).map { .asset($0.path, isUpload: true) } ?? Route(path: head.path)
        let reply = Reply(
            exchange, head, route,
            peer: options.trustsForwardedFor ? peer(of: head) : nil, bodyBytes: request.body.count)
        if head.method == "OPTIONS", route.isCrossOrigin {
            return preflight(head, reply, route)
        }
        if route.isOfStrangers, let refusal = refusal(of: head) { return reply.send(refusal) }
        switch route {
        case .service(let path):
            ask(request, reply, path)
        case .courier(let path):
            guard head.method == "GET" else { return reply.send(Refusal.wrongMethod("GET")) }
            courier.poll(
                head, reply, peer: peer(of: head), container: container(of: path), in: table)
        case .asset(let path, let isUpload):
            assets.handle(request, reply, path, container(of: path), isUpload: isUpload, peer: peer(of: head))
        case .signIn:
            guard let signIns else { return reply.send(Refusal.noSuchPath(head.path)) }
            if head.method == "GET" {
                return signIns.show(
                    ticket: head.queryValue(SignInPage.ticketItem) ?? "", isSecure: isSecure(head),
                    peer: peer(of: head), reply)
            }
            guard head.method == "POST" else { return reply.send(Refusal.wrongMethod("POST")) }
            signIns.take(
                request.body, peer: peer(of: head), client: head.header("User-Agent"), reply)
        case .signInForm, .signOut, .sessions: answerForm(request, reply, route)
        case .root, .dashboard, .operators:
            guard let operators else { return reply.send(Refusal.noSuchPath(head.path)) }
            if route == .root { return operators.sendRoot(head, reply, peer: peer(of: head)) }
            if route == .dashboard { return operators.sendPage(head, reply, peer: peer(of: head)) }
            operators.take(request, reply, peer: peer(of: head), serverURL: serverURL(for: head))
        case .health: status.answerHealth(reply, isStopping: isStopping.withLock { $0 })
        case .live: status.answerLive(reply)
        case .metrics where options.servesMetrics: status.answerMetrics(exchange, gauges())
        case .metrics, .nowhere:
            reply.send(Refusal.noSuchPath(head.path))
        }
    }

    func stopping() {
        isStopping.withLock { $0 = true }
        courier.stop()
    }

    /// Returns errors of HTTP in the form of CloudKit's errors.
    func errorResponse(status: Int, reason: String) -> HTTPResponse {
        let code: ServerErrorCode =
            switch status {
            case 404: .notFound
            case 500: .internalError
            case 503: .tryAgainLater
            default: .badRequest
            }
        let seconds: Double? = status == 503 ? 5 : nil
        // A chunked body has no length beforehand. Its error has the reason that `bodyPlan` gives for a length.
        let reason = status == 413 ? "LimitExceeded: \(reason)" : reason
        let error = WireError(code, reason: reason, retryAfterSeconds: seconds)
        return Reply.response(error.response(requestID: nil, extras: false))
    }

    func finished(_ summary: HTTPExchangeSummary) {
        status.count(summary)
        history?.add(summary)
        guard let log else { return }
        let now = options.clock.nowMilliseconds()
        log.add { requestLine(summary, milliseconds: now) }
    }

    // MARK: -

    private func container(of path: ServicePath) -> CloudService.Container {
        onlyContainer ?? CloudService.Container(path)
    }

    private func ask(_ request: HTTPRequest, _ reply: Reply, _ path: ServicePath) {
        let cancellation = ServiceCancellation()
        // Work for a disconnected client isn't begun; work in progress is completed.
        reply.exchange.onGiveUp { cancellation.cancel() }
        ask(wireRequest(request.head, path, request.body), container(of: path), cancellation) { result in
            switch result {
            case .failure(let error): reply.send(error)
            case .success(let response): reply.send(response)
            }
        }
    }

    /// Answers a CORS preflight, which counts as an unauthenticated request. The app defines the allowed origins. If
    /// the app is unknown or can't be looked up now, the preflight succeeds, and the request itself gets the error.
    private func preflight(_ head: HTTPRequestHead, _ reply: Reply, _ route: Route) {
        guard case .service(let path) = route, head.queryValue(WireHeader.apiTokenItem) != nil else {
            return sendCountedPreflight(head, reply)
        }
        ask(wireRequest(head, path, []), container(of: path), ServiceCancellation()) { [self] result in
            switch result {
            case .success(let response)
            where response.note.refusesOrigin || response.status == 429 || response.status == 503:
                reply.send(response)
            case .success: reply.sendPreflight(asked: head)
            // A request for a missing container was counted.
            case .failure(let error) where error.serverErrorCode == .notFound:
                reply.sendPreflight(asked: head)
            case .failure(let error) where error.serverErrorCode == .throttled: reply.send(error)
            case .failure: sendCountedPreflight(head, reply)
            }
        }
    }

    /// Answers a preflight that no service counts.
    private func sendCountedPreflight(_ head: HTTPRequestHead, _ reply: Reply) {
        refusal(of: head).map { reply.send($0) } ?? reply.sendPreflight(asked: head)
    }

    /// Counts a request without a service for the client's address. Returns the error if there are too many.
    private func refusal(of head: HTTPRequestHead) -> WireError? {
        strangers.refusal(of: peer(of: head), atMilliseconds: options.clock.nowMilliseconds())
    }

    private func wireRequest(_ head: HTTPRequestHead, _ path: ServicePath, _ body: [UInt8]) -> WireRequest {
        var request = WireRequest(
            method: head.method, path: head.path, query: head.query, headers: serviceHeaders(of: head),
            body: body, requestID: head.requestID, serverURL: serverURL(for: head), rawTarget: head.target,
            peer: peer(of: head))
        request.isTraced = history != nil
        request.parsedPath = path
        return request
    }

    private func ask(
        _ wire: WireRequest, _ container: CloudService.Container, _ cancellation: ServiceCancellation,
        _ completion: @escaping @Sendable (Result<WireResponse, WireError>) -> Void
    ) {
        table.use(container, from: wire.peer ?? "", bodyBytes: wire.body.count) { [table] result in
            switch result {
            case .failure(let error):
                completion(.failure(error))
            case .success(let environment):
                environment.thread.send(wire, cancellation: cancellation) { response in
                    table.release(environment)
                    completion(.success(response))
                }
            }
        }
    }

    /// Decodes the headers that a service uses.
    private func serviceHeaders(of head: HTTPRequestHead) -> [(name: String, value: String)] {
        Self.serviceHeaderNames.compactMap { name in head.header(name).map { (name, $0) } }
    }

    private static let serviceHeaderNames = [
        WireHeader.client, WireHeader.operation, WireHeader.origin, WireHeader.keyID, WireHeader.signedDate,
        WireHeader.signature,
    ]

    /// Returns the server's URL for the client. Devices poll there for their pushes.
    func serverURL(for head: HTTPRequestHead) -> String? {
        if let publicURL = options.publicURL { return publicURL }
        let scheme = options.http.tls == nil ? "http" : "https"
        return head.header("Host").map { "\(scheme)://\($0)" }
    }

    func peer(of head: HTTPRequestHead) -> String {
        // The nearest proxy wrote the last entry. The client may have forged the others.
        guard options.trustsForwardedFor,
            let forwarded = head.headers.last(where: { $0.name.lowercased() == "x-forwarded-for" })?.value,
            let last = forwarded.split(separator: ",").last
        else { return head.peer }
        return String(last.filter { $0 != " " }.prefix(64))
    }

    /// Returns the current values of the metrics.
    func gauges() -> ServerStatus.Gauges {
        ServerStatus.Gauges(
            connections: connectionCount.withLock { $0 }?() ?? 0, polls: courier.count,
            pushes: courier.deliveredCount, environmentsOpen: table.openCount,
            environmentsOpenMax: options.environmentsOpenMax, linesDropped: log?.droppedCount ?? 0,
            webhooks: webhooks.counts, pruned: table.prunedCounts.withLock { $0 })
    }
}

/// Returns the log line of a request. It has no query and no headers, because these contain secrets.
func requestLine(_ summary: HTTPExchangeSummary, milliseconds: Int64) -> [UInt8] {
    let note = summary.note
    let service = note?.service
    let textBytesMax = 255
    var line = LogLine()
    line.put("time", logTime(milliseconds: milliseconds))
    line.put("id", summary.requestID)
    line.put("peer", note?.peer ?? summary.peer)
    line.put("method", summary.method, bytesMax: textBytesMax)
    line.put("path", summary.path, bytesMax: 512)
    switch summary.route {
    case .asset(let path, let isUpload):
        line.put("container", path.container, bytesMax: textBytesMax)
        line.put("environment", path.environment, bytesMax: textBytesMax)
        line.put("operation", isUpload ? "asset/upload" : "asset/file")
    case .service(let path), .courier(let path):
        line.put("container", path.container, bytesMax: textBytesMax)
        line.put("environment", path.environment, bytesMax: textBytesMax)
        line.put("operation", path.endpoint, bytesMax: textBytesMax)
    case .signIn, .signInForm: line.put("operation", "sign-in")
    case .signOut: line.put("operation", "sign-out")
    case .sessions: line.put("operation", "sessions")
    case .operators: line.put("operation", "operator")
    case .dashboard: line.put("operation", "dashboard")
    case .health, .live, .metrics, .root, .nowhere: break
    }
    line.put("user", service?.userRecordName)
    line.put("client", note?.clientID, bytesMax: textBytesMax)
    line.put("status", summary.status)
    line.put("error", service?.errorCode)
    if let counts = service?.recordErrors, !counts.isEmpty { line.put("recordErrors", counts) }
    if let count = service?.groupRequests, count > 0 { line.put("group", count) }
    line.put("bytesIn", summary.bytesIn)
    line.put("bytesOut", summary.bytesOut)
    line.put("milliseconds", Int(summary.milliseconds))
    if summary.ending != .answered { line.put("ending", summary.ending.rawValue) }
    return line.finish()
}
