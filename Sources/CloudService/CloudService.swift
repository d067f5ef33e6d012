import CloudStore
import CloudWire
import System

/// The cloud service without sockets: decides a request of CloudKit's web protocol, writes its changes, and
/// returns the response.
///
/// Given the same store, clock, random bits and requests, the responses have the same bytes. All calls are
/// synchronous and block on the store. `CloudServiceThread` is the shell for callers that must not block.
public final class CloudService: Sendable {
    /// The container and environment of a service.
    public struct Container: Hashable, Sendable {
        /// The container's identifier, such as `iCloud.com.example.todo`.
        public let identifier: String
        /// `development` or `production`.
        public let environment: String

        /// Identifies an environment of a container.
        public init(identifier: String, environment: String = "development") {
            self.identifier = identifier
            self.environment = environment
        }
    }

    /// Limits of requests and users.
    public let limits: ServiceLimits
    /// Behaviour where Apple's documents leave a choice.
    public let settings: ServiceSettings
    let store: any CloudStore
    let groupLimits: GroupLimits
    let container: Container?
    /// The service's public address, or nil to use that of the request.
    let publicURL: String?
    /// The default accounts.
    private let ownAccounts: ServiceAccountList

    // Shared by the families. Each has its own state.
    package let schemas = Schemas()
    package let quotas: Quotas
    let secret: StoreSecret
    let rates: CallerRates
    let indexes: IndexBuilding
    let pushes: PushDelivery
    let writing: ChangeWriter

    // The endpoints, their authentication and their responses.
    let authentication: Authentication
    let records: RecordsEndpoints
    let queries: QueryEndpoints
    let zones: ZonesEndpoints
    let feeds: ChangesEndpoints
    let users: UsersEndpoints
    let assets: AssetsEndpoints
    let subscriptions: SubscriptionsEndpoints
    let notifications: NotificationsEndpoints
    package let tokens: TokensEndpoints
    let responses: Responses
    let groups: RequestGroups

    // Parts outside the endpoints.
    let transfers: AssetTransfers
    let devicePushes: DevicePushes
    package let webhooks: Webhooks
    let collection: AssetCollection
    package let clearedRows: ClearedRows
    let zoneCounting: ZoneCounting
    let pruning: Pruning
    let upkeep: Upkeep
    package let schemaMaintenance: SchemaMaintenance
    package let zoneMaintenance: ZoneMaintenance
    package let messages: OperatorMessages
    let exporting: ServiceExport
    let importing: ServiceImport

    /// Makes a service whose data is in memory, for tests and demonstrations. `CloudServer` serves it on a port. For
    /// data on disk, use `CloudServer.init(dataFolder:control:accounts:signIn:witness:options:)`.
    ///
    /// ```swift
    /// let service = CloudService.inMemory(users: ["token": ServiceUser(userRecordName: "_ada")])
    /// ```
    ///
    /// - Parameters:
    ///   - container: the served container. Requests for another one are rejected. If nil, all paths are
    ///     served, with the same data.
    ///   - users: the users by web auth token.
    ///   - limits: limits of requests and users.
    ///   - settings: behaviour where Apple's documents leave a choice.
    /// - Returns: A service without data.
    public static func inMemory(
        container: Container? = nil, users: [String: ServiceUser] = [:],
        limits: ServiceLimits = ServiceLimits(), settings: ServiceSettings = ServiceSettings()
    ) -> CloudService {
        CloudService(
            store: MemoryCloudStore(), clock: SystemTimeSource(), random: SystemRandomSource(),
            container: container, users: users, limits: limits, settings: settings)
    }

    /// Makes a service over a store, which holds one environment of one container.
    ///
    /// - Parameters:
    ///   - store: the store.
    ///   - clock: source of the times in records' stamps.
    ///   - random: source of names, epochs and request IDs.
    ///   - container: the served container. Requests for another one are rejected. If nil, all paths are
    ///     served, for a test with one container.
    ///   - publicURL: the service's public address, such as `https://cloud.example.com`, for addresses in
    ///     responses. If nil, the host of the request is used.
    ///   - accounts: authenticates requests. Nil uses a list in memory of `users` and those added by
    ///     `addUser`.
    ///   - users: the users by web auth token, if `accounts` is nil.
    ///   - limits: limits of requests and users.
    ///   - groupLimits: limits of one transaction.
    ///   - settings: behaviour where Apple's documents leave a choice.
    ///   - assetFiles: the storage of records' files. If nil, they are in memory.
    ///   - usageElsewhere: the users' usage in the container's other environment, or nil if there is none.
    ///   - rates: maximum request rates.
    ///   - schemaMayGrow: whether saves may add to the schema. If nil, everywhere except in production.
    package convenience init(
        store: any CloudStore, clock: any TimeSource, random: any RandomSource, container: Container? = nil,
        publicURL: String? = nil,
        accounts: (any ServiceAccounts)? = nil, users: [String: ServiceUser] = [:],
        limits: ServiceLimits = ServiceLimits(), groupLimits: GroupLimits = GroupLimits(),
        settings: ServiceSettings = ServiceSettings(),
        assetFiles: (any AssetStore)? = nil, usageElsewhere: UsageElsewhere? = nil,
        rates: ServiceRates = .unlimited,
        schemaMayGrow: Bool? = nil
    ) {
        precondition(accounts == nil || users.isEmpty, "users belong into the accounts")
        let ownAccounts = ServiceAccountList(users: users)
        self.init(
            store, clock, random, container, publicURL: publicURL, ownAccounts: ownAccounts,
            accounts: accounts ?? ownAccounts, limits, groupLimits, settings,
            files: assetFiles ?? MemoryAssetStore(clock: clock),
            quotas: Quotas(limits: limits, clock: clock, elsewhere: usageElsewhere),
            rates: CallerRates(rates, clock: clock),
            schemaMayGrow: schemaMayGrow ?? (container?.environment != "production"))
    }

    /// Makes the families, each with only the parts that it needs.
    private init(
        _ store: any CloudStore, _ clock: any TimeSource, _ random: any RandomSource, _ container: Container?,
        publicURL: String?, ownAccounts: ServiceAccountList, accounts: any ServiceAccounts,
        _ limits: ServiceLimits, _ groupLimits: GroupLimits, _ settings: ServiceSettings,
        files: any AssetStore, quotas: Quotas, rates: CallerRates, schemaMayGrow: Bool
    ) {
        (self.store, self.container, self.publicURL) = (store, container, publicURL)
        (self.limits, self.groupLimits, self.settings) = (limits, groupLimits, settings)
        (self.ownAccounts, self.quotas, self.rates) = (ownAccounts, quotas, rates)
        secret = StoreSecret(store: store, random: random)
        let tickets = AssetTickets(secret: secret, clock: clock, files: files, limits: limits.assets)
        let unsaved = UnsavedFiles(store: store, clock: clock, limits: limits.assets)
        let answers = KeptAnswers(clock: clock, limits: limits)
        let watches = QueryWatches(schemas: schemas, limits: limits, clock: clock, random: random)
        indexes = IndexBuilding(store: store, schemas: schemas, limits: limits)
        clearedRows = ClearedRows(store: store, limits: limits.clearing)
        webhooks = Webhooks(store: store, clock: clock, random: random, container: container, limits: limits)
        pushes = PushDelivery(
            store: store, clock: clock, random: random, container: container, limits: limits,
            watches: watches, webhooks: webhooks)
        writing = ChangeWriter(
            schemas: schemas, answers: answers, indexes: indexes, clearedRows: clearedRows, pushes: pushes)
        authentication = Authentication(accounts: accounts, clock: clock, publicURL: publicURL, rates: rates)
        records = RecordsEndpoints(
            limits: limits, settings: settings, schemaMayGrow: schemaMayGrow, clock: clock, random: random,
            schemas: schemas, quotas: quotas, tickets: tickets, unsaved: unsaved, watches: watches,
            answers: answers, writing: writing)
        queries = QueryEndpoints(limits: limits, secret: secret, schemas: schemas, indexes: indexes)
        zones = ZonesEndpoints(
            limits: limits, settings: settings, clock: clock, random: random, quotas: quotas,
            answers: answers, writing: writing)
        feeds = ChangesEndpoints(limits: limits)
        users = UsersEndpoints(accounts: accounts, limits: limits)
        assets = AssetsEndpoints(
            limits: limits, clock: clock, random: random, schemas: schemas, tickets: tickets)
        subscriptions = SubscriptionsEndpoints(
            limits: limits, random: random, schemas: schemas, answers: answers)
        notifications = NotificationsEndpoints(
            container: container, limits: limits, clock: clock, random: random, pushes: pushes)
        tokens = TokensEndpoints(store: store, limits: limits, clock: clock, random: random)
        responses = Responses(store: store, random: random, limits: limits, tickets: tickets, rates: rates)
        groups = RequestGroups(
            store: store, clock: clock, limits: groupLimits, pushes: pushes, responses: responses)
        transfers = AssetTransfers(store: store, clock: clock, tickets: tickets, unsaved: unsaved)
        devicePushes = DevicePushes(
            store: store, clock: clock, limits: limits, settings: settings, container: container,
            rates: rates, authentication: authentication)
        collection = AssetCollection(store: store, clock: clock, files: files, limits: limits.assets)
        zoneCounting = ZoneCounting(store: store)
        pruning = Pruning(
            store: store, clock: clock, limits: limits,
            notifications: NotificationPruning(limits: limits, clock: clock, random: random),
            webhooks: webhooks, indexes: indexes)
        upkeep = Upkeep(
            pushes: pushes, indexes: indexes, zoneCounting: zoneCounting, clearedRows: clearedRows,
            pruning: pruning, files: collection, answers: answers)
        schemaMaintenance = SchemaMaintenance(
            store: store, random: random, limits: limits, schemas: schemas, writing: writing)
        zoneMaintenance = ZoneMaintenance(store: store, random: random)
        messages = OperatorMessages(schemas: schemas)
        exporting = ServiceExport(store: store, files: files, schemas: schemas)
        importing = ServiceImport(
            store: store, files: files, limits: limits, schemaMayGrow: schemaMayGrow, clock: clock,
            random: random, schemas: schemas, writing: writing, zones: zones, pushes: pushes, upkeep: upkeep)
    }

    /// Adds a user who signs in with `token`, the value of a request's `ckWebAuthToken`. Only for a service
    /// without `accounts`.
    public func addUser(_ user: ServiceUser, token: String) {
        ownAccounts.add(user, token: token)
    }

    /// Executes one request as a group of one. Its writes are durable when it returns.
    package func respond(to request: WireRequest) -> WireResponse {
        let prepared = prepare(request)
        return responses.response(to: prepared, answer: prepared.work.answerAlone(in: store))
    }

    /// Executes one request of an operator, as `respond(to:)` does for users. The caller has checked the
    /// session and the role.
    package func respond(to request: WireRequest, for caller: OperatorCaller) -> WireResponse {
        let prepared = prepare(request, for: caller)
        return responses.response(to: prepared, answer: prepared.work.answerAlone(in: store))
    }

    /// Queues a request for a later `commitGroup`. Doesn't use the store.
    package func begin(_ request: WireRequest) -> ServiceTicket {
        groups.begin(prepare(request))
    }

    /// Executes pending requests within the limits of a group, oldest first. The others stay pending.
    ///
    /// All writes among them share one transaction, and each can be rejected without the others. If the
    /// transaction itself fails, each is retried alone. The writes are durable when this returns, and reads
    /// among them see the writes.
    package func commitGroup() -> [(ticket: ServiceTicket, response: WireResponse)] { groups.commit() }
}
