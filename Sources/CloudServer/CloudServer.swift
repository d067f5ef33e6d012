import CloudService
import CloudStore
import CloudWire
import HTTPServer
import System

/// A CloudKit server: passes each request to the service of its container, holds the long polls of devices, handles
/// sign-ins, and writes the log.
///
/// ```swift
/// let service = CloudService.inMemory(users: ["token": ServiceUser(userRecordName: "_ada")])
/// let server = CloudServer(service)
/// try server.start()
/// print(server.url)
/// server.stop()
/// ```
public final class CloudServer: Sendable {
    private let options: CloudServerOptions
    private let http: HTTPServer
    private let table: EnvironmentTable
    private let courier: Courier
    private let webhooks: WebhookSender
    /// Looks for pending webhook deliveries. Blocks on files.
    private let beginWebhooks: @Sendable (WebhookSender) -> Void
    private let signIns: SignInHandler?
    private let operators: OperatorHandler?
    private let certificate: CertificateWatch?
    private let removals: RemovalWatch?
    private let control: ControlStore?
    private let status: ServerStatus
    private let assets: AssetHandler
    private let restores: RestoreDetector?
    private let log: ServerLog?
    private let history: RequestHistory?
    /// Finds the environments with pending webhook deliveries once.
    private let webhookSearch = OwnedThread(name: "yap search")
    private let life = Lock(Life.new)

    private enum Life { case new, running, stopped }

    /// Makes a server of one service, for every container that the service admits. There is no sign-in, since the
    /// caller owns the service's accounts.
    public convenience init(_ service: CloudService, options: CloudServerOptions = CloudServerOptions()) {
        self.init(
            options: options, onlyContainer: CloudService.Container(identifier: "", environment: ""),
            signIn: nil, opener: { _, _ in OpenedService(service: service, close: {}) })
    }

    /// Makes a server. The first request for an environment opens it.
    ///
    /// - Parameters:
    ///   - onlyContainer: the container that all paths lead to, or nil for the container in the path.
    ///   - dataFolder: the folder to measure and watch, or nil for a service without a folder.
    ///   - control: lists what is being removed from the folder, or nil if nothing ever is.
    ///   - restores: makes the detector of a restored folder, or nil to skip the check.
    ///   - beginWebhooks: returns the environments with pending deliveries. Called on a thread of its own.
    ///   - finder: returns true if the container exists. Called on a thread that may block on a file.
    ///   - probe: tries to write, for `DiskWatch`. Nil writes in the data folder.
    ///   - opener: makes the service of an environment, or nil if the container doesn't exist. Called on a thread that
    ///     may block on files. It reports the store's writes to the watch.
    init(
        options: CloudServerOptions, onlyContainer: CloudService.Container?, signIn: (any SignInChecker)?,
        dataFolder: DataFolder? = nil, control: ControlStore? = nil,
        restores: ((ServerLog?) -> RestoreDetector)? = nil,
        beginWebhooks: @escaping @Sendable (WebhookSender) -> Void = { _ in },
        finder: @escaping @Sendable (CloudService.Container) throws -> Bool = { _ in true },
        probe: (@Sendable (Bool) -> DiskTrouble?)? = nil,
        opener: @escaping @Sendable (CloudService.Container, DiskWatch?) throws -> OpenedService?
    ) {
        self.options = options
        self.control = control
        self.beginWebhooks = beginWebhooks
        webhooks = WebhookSender(clock: options.clock)
        courier = Courier(
            pollsMax: options.courierPollsMax, holdMilliseconds: options.courierHoldMilliseconds,
            clock: options.monotonicClock)
        let log = options.log.map { ServerLog($0, entriesMax: options.logLinesMax, clock: options.clock) }
        self.log = log
        self.restores = restores?(log)
        let probe =
            probe
            ?? dataFolder.map { folder in
                { @Sendable isSuspect in DiskProbe.trouble(of: folder.path, isSuspect: isSuspect) }
            }
        let watch = probe.map { DiskWatch(log: log, probe: $0) }
        status = ServerStatus(dataFolder: dataFolder, watch: watch, clock: options.clock)
        let strangers = AddressRate(options.rates)
        table = EnvironmentTable(
            openMax: options.environmentsOpenMax, strangers: strangers, clock: options.clock,
            finder: Self.logging(finder, watch, log),
            opener: Self.logging({ try opener($0, watch) }, watch, log), courier: courier,
            webhooks: webhooks)
        signIns = signIn.map { [table, webhooks] checker in
            SignInHandler(checker, waitingMax: options.signInsWaitingMax, log: log) { news in
                table.tell(news.event, in: news.container, webhooks)
            }
        }
        history = Self.history(dataFolder, control, options, log)
        operators = Self.operators(dataFolder, control, options, table, history, log)
        assets = AssetHandler(options, table: table)
        if let dataFolder, let control {
            removals = RemovalWatch(dataFolder, control, table, courier, history, log)
        } else {
            removals = nil
        }
        var http = options.http
        http.bodyBytesMax = max(
            http.bodyBytesMax, options.limits.bodyBytesMax, AssetHandler.bodyBytesMax(options),
            operators == nil ? 0 : OperatorEndpoint.schemaBytesMax)
        // Behind a proxy, only the proxy can count the connections of a client.
        if options.trustsForwardedFor { http.connectionsOfAddressMax = 0 }
        http.streamSecondsMax = Double(options.assets.downloadMillisecondsMax) / 1_000
        http.requestIDHeader = "X-Apple-Request-UUID"
        http.threads = options.threads
        http.connectionsMax = DescriptorLimit.makeRoom(
            connectionsMax: http.connectionsMax, environmentsOpenMax: options.environmentsOpenMax)
        let routes = Routes(
            options: options, onlyContainer: onlyContainer, strangers: strangers, table: table,
            courier: courier,
            webhooks: webhooks, signIns: signIns, operators: operators, assets: assets, status: status,
            log: log, history: history)
        operators?.setGauges { [weak routes] in routes?.gauges() }
        let server = HTTPServer(options: http, handler: routes)
        self.http = server
        certificate = http.tls.map { tls in
            CertificateWatch(tls, log: log) { [weak server] in try server?.reloadTLS() }
        }
        routes.connectionCount.withLock { $0 = { [weak server] in server?.connectionCount ?? 0 } }
    }

    /// Listens and serves, on threads of its own. After an error nothing runs, the port is free, and the server can be
    /// started again.
    ///
    /// - Throws: `HTTPServerError` when the port is taken, a TLS file is invalid, a system call fails, or the server
    ///   was started or stopped before; an error when a thread can't be started; `DataFolderError` or
    ///   `CloudStoreError` when the folder was restored and its epochs can't be renewed.
    public func start() throws {
        let failure = try life.withLock { life -> (any Error)? in
            guard life == .new else { throw HTTPServerError.alreadyStarted }
            do {
                try restores?.begin()
                connectParts()
                try ThreadStart.all(from: options.threads) { start in
                    for owner in threadOwners { try owner.start(start) }
                    try webhookSearch.start(start) { [webhooks, beginWebhooks] in beginWebhooks(webhooks) }
                    try http.start()
                }
            } catch {
                control?.sessions.setReplayListener(nil)
                return error
            }
            life = .running
            return nil
        }
        guard let failure else { return }
        // The log's thread doesn't run.
        log?.writeAll()
        throw failure
    }

    private var threadOwners: [any ThreadOwner] {
        let optional: [(any ThreadOwner)?] = [
            log, history, signIns, operators, certificate, removals, restores,
        ]
        return optional.compactMap(\.self) + [webhooks, courier, status, table, assets]
    }

    /// Connects parts that notify each other, before the first request.
    private func connectParts() {
        webhooks.use(table)
        // A stolen session may include the tokens of its devices.
        control?.sessions.setReplayListener { [table] session in
            table.forgetDevices(
                of: session.userRecordName, named: nil,
                in: CloudService.Container(identifier: session.container, environment: session.environment)
            ) { _ in }
        }
    }

    /// Reads the certificate and its key again, for new connections. If a file is invalid, this is logged, and the
    /// former files stay in use. Does nothing without TLS. Blocks while it reads.
    public func readCertificateAgain() { certificate?.read() }

    /// The listening port, or 0 before `start`.
    public var port: Int { http.port }

    /// The server's public URL from the options, or its URL on this machine.
    public var url: String {
        if let publicURL = options.publicURL { return publicURL }
        let host = options.http.host.contains(":") ? "[\(options.http.host)]" : options.http.host
        return "\(options.http.tls == nil ? "http" : "https")://\(host):\(port)"
    }

    /// The URL of the dashboard, or nil if it is turned off.
    public var dashboardURL: String? {
        operators == nil ? nil : url + Route.dashboardPath
    }

    /// Makes a link that signs the first administrator in once, within 10 minutes. It replaces the previous link.
    ///
    /// - Returns: nil if an administrator has a password, if the server isn't limited to loopback, or if the dashboard
    ///   is turned off.
    /// - Throws: `CloudStoreError`, `CryptoError`.
    public func makeFirstDashboardLink() throws -> String? {
        guard let dashboardURL, let secret = try operators?.makeFirstLink() else { return nil }
        return "\(dashboardURL)/link#\(secret)"
    }

    /// Number of open connections.
    public var connectionCount: Int { http.connectionCount }

    /// Number of devices waiting for a push.
    public var courierPollCount: Int { courier.count }

    /// Waits until all answered requests are in the history. For tests.
    func settleHistory() { history?.settle() }

    /// Stops in order: accepts no more requests, answers the held polls, waits up to `graceMilliseconds` for requests
    /// in progress, ends the services, closes their files, and writes the rest of the log.
    ///
    /// Blocks until that is done, also for a second caller. Must not be called on a thread of the server.
    public func stop() {
        life.withLock { life in
            guard life != .stopped else { return }
            courier.stop()
            certificate?.stop()
            http.stop(graceMilliseconds: options.graceMilliseconds)
            signIns?.stop()
            operators?.stop()
            status.stop()
            assets.stop()
            webhooks.stop()
            removals?.stop()
            control?.sessions.setReplayListener(nil)
            table.stop()
            restores?.stop()
            history?.stop()
            log?.stop(waitMilliseconds: 1_000)
            life = .stopped
        }
    }

    /// Makes the request history, or returns nil without a folder or if it is turned off.
    private static func history(
        _ folder: DataFolder?, _ control: ControlStore?, _ options: CloudServerOptions, _ log: ServerLog?
    ) -> RequestHistory? {
        guard let folder, options.history.requests == .on else { return nil }
        return RequestHistory(path: folder.historyPath, options.history, clock: options.clock, log: log) {
            // An unreadable file counts as missing.
            (try? control?.containers.exists($0.container)) ?? true
        }
    }

    /// Makes the handler of the dashboard, or logs the reason that there is none.
    private static func operators(
        _ folder: DataFolder?, _ control: ControlStore?, _ options: CloudServerOptions,
        _ table: EnvironmentTable, _ history: RequestHistory?, _ log: ServerLog?
    ) -> OperatorHandler? {
        guard let folder, let control, options.dashboard != .off else { return nil }
        do {
            return try OperatorHandler(control, folder, options, table: table, history: history, log: log)
        } catch {
            log?.add(event: "dashboard can't be served", [("error", "\(error)")])
            return nil
        }
    }

    /// Logs the reason that an environment can't be opened. Clients don't get it.
    private static func logging<Found>(
        _ body: @escaping @Sendable (CloudService.Container) throws -> Found, _ watch: DiskWatch?,
        _ log: ServerLog?
    ) -> @Sendable (CloudService.Container) throws -> Found {
        { container in
            do {
                return try body(container)
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
