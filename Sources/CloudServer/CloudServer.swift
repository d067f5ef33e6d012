import CloudService
import CloudStore
import CloudWire
import HTTPServer
import Seams

/// The cloud on a port: leads each request to the service of its container, holds the polls of devices that wait for
/// pushes, signs in, and writes the log.
///
///     let server = CloudServer(service)
///     try server.start()
///     print(server.url)
///     server.stop()
public final class CloudServer: Sendable {
    private let options: CloudServerOptions
    private let http: HTTPServer
    private let table: EnvironmentTable
    private let courier: Courier
    private let webhooks: WebhookSender
    /// Looks for what was left to send to webhooks; waits for files.
    private let beginWebhooks: @Sendable (WebhookSender) -> Void
    private let signIns: SignInDesk?
    private let status: ServerStatus
    private let assets: AssetDesk
    private let log: RequestLog?
    private let hasStopped = Lock(false)

    /// Puts one service on a port. It answers for every container that it admits itself; there is no sign-in, since
    /// the service's accounts are the caller's.
    public convenience init(_ service: CloudService, options: CloudServerOptions = CloudServerOptions()) {
        self.init(
            options: options, onlyContainer: CloudService.Container(identifier: "", environment: ""),
            signIn: nil, opener: { _, _ in OpenedService(service: service, close: {}) })
    }

    /// Makes a server; each environment of a container is opened by the first request for it.
    ///
    /// - Parameters:
    ///   - onlyContainer: every path leads to this one's service; nil: each to its own.
    ///   - dataFolder: whose files are measured and watched; nil for a service without a folder.
    ///   - beginWebhooks: names the environments in which something was left to send. Called on a thread of its own.
    ///   - probe: tries to write, for `DiskWatch`; nil: in the data folder.
    ///   - opener: makes the service of an environment, nil when there is no such container. Called on a thread that
    ///     may wait for files. The watch wants to hear how the store's writes go.
    init(
        options: CloudServerOptions, onlyContainer: CloudService.Container?, signIn: (any SignInChecker)?,
        dataFolder: DataFolder? = nil, beginWebhooks: @escaping @Sendable (WebhookSender) -> Void = { _ in },
        probe: (@Sendable (Bool) -> DiskTrouble?)? = nil,
        opener: @escaping @Sendable (CloudService.Container, DiskWatch?) throws -> OpenedService?
    ) {
        self.options = options
        self.beginWebhooks = beginWebhooks
        webhooks = WebhookSender(clock: options.clock)
        courier = Courier(
            pollsMax: options.courierPollsMax, holdMilliseconds: options.courierHoldMilliseconds,
            clock: options.monotonicClock)
        let log = options.log.map { RequestLog($0, entriesMax: options.logLinesMax, clock: options.clock) }
        self.log = log
        let probe =
            probe
            ?? dataFolder.map { folder in
                { @Sendable isSuspect in DiskProbe.trouble(of: folder.path, isSuspect: isSuspect) }
            }
        let watch = probe.map { DiskWatch(log: log, probe: $0) }
        status = ServerStatus(dataFolder: dataFolder, watch: watch, clock: options.clock)
        table = EnvironmentTable(
            openMax: options.environmentsOpenMax,
            opener: Self.logging({ try opener($0, watch) }, watch, log), courier: courier,
            webhooks: webhooks)
        signIns = signIn.map { SignInDesk($0, waitingMax: options.signInsWaitingMax, log: log) }
        assets = AssetDesk(options, table: table)
        var http = options.http
        http.bodyBytesMax = max(
            http.bodyBytesMax, options.limits.bodyBytesMax, AssetDesk.bodyBytesMax(options))
        http.requestIDHeader = "X-Apple-Request-UUID"
        http.connectionsMax = DescriptorLimit.makeRoom(
            connectionsMax: http.connectionsMax, environmentsOpenMax: options.environmentsOpenMax)
        let routes = Routes(
            options: options, onlyContainer: onlyContainer, table: table, courier: courier,
            webhooks: webhooks, signIns: signIns, assets: assets, status: status, log: log)
        let server = HTTPServer(options: http, handler: routes)
        self.http = server
        routes.connectionCount.withLock { $0 = { [weak server] in server?.connectionCount ?? 0 } }
    }

    /// Listens, and serves on threads of its own.
    ///
    /// - Throws: `HTTPServerError` when the port is taken, a file of TLS is wrong or the system refuses.
    public func start() throws {
        try http.start()
        webhooks.use(table)
        startThread { [webhooks, beginWebhooks] in beginWebhooks(webhooks) }
    }

    /// The port that is listened on; 0 before `start`.
    public var port: Int { http.port }

    /// The server's address for programs on this machine, or its public one when the options name it.
    public var url: String {
        if let publicURL = options.publicURL { return publicURL }
        let host = options.http.host.contains(":") ? "[\(options.http.host)]" : options.http.host
        return "\(options.http.tls == nil ? "http" : "https")://\(host):\(port)"
    }

    /// How many connections are open.
    public var connectionCount: Int { http.connectionCount }

    /// How many devices wait for a push.
    public var courierPollCount: Int { courier.count }

    /// Stops in order: accepts no more, answers the polls that are held, lets requests in flight end within
    /// `graceMilliseconds`, ends the services, closes their files, and writes the rest of the log.
    ///
    /// It blocks until that is done, also for a second caller. Must not be called on a thread of the server.
    public func stop() {
        hasStopped.withLock { hasStopped in
            guard !hasStopped else { return }
            courier.stop()
            http.stop(graceMilliseconds: options.graceMilliseconds)
            signIns?.stop()
            status.stop()
            assets.stop()
            webhooks.stop()
            table.stop()
            log?.stop(waitMilliseconds: 1_000)
            hasStopped = true
        }
    }

    /// What keeps an environment from opening is told to the operator, and to nobody else.
    private static func logging(
        _ opener: @escaping EnvironmentTable.Opener, _ watch: DiskWatch?, _ log: RequestLog?
    ) -> EnvironmentTable.Opener {
        { container in
            do {
                return try opener(container)
            } catch {
                log?.add(
                    event: "environment can't be opened",
                    [
                        ("container", container.identifier), ("environment", container.environment),
                        ("error", "\(error)"),
                    ])
                if let error = error as? CloudStoreError { watch?.failed(error, isWrite: false) }
                throw error
            }
        }
    }
}
