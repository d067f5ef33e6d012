import CloudStore
import CloudWire
import System

/// The cloud without sockets: takes a request of CloudKit's web protocol, decides, writes, and answers.
///
/// Given the same store, clock, random bits and requests, the answers are the same bytes. All calls are
/// synchronous and block on the store; `CloudServiceThread` is the shell for callers that must not wait.
public final class CloudService: Sendable {
    /// The container and the environment that a service is for.
    public struct Container: Hashable, Sendable {
        /// The container's identifier, as `iCloud.com.example.todo`.
        public let identifier: String
        /// `development` or `production`.
        public let environment: String

        /// Names an environment of a container.
        public init(identifier: String, environment: String = "development") {
            self.identifier = identifier
            self.environment = environment
        }
    }

    /// What one request may ask for.
    public let limits: ServiceLimits
    /// What it does where Apple's documents leave a choice.
    public let settings: ServiceSettings
    let store: any CloudStore
    let groupLimits: GroupLimits
    let container: Container?
    /// Where clients reach the service; nil: where the request says that it went.
    let publicURL: String?
    /// The default accounts.
    private let ownAccounts: ServiceAccountList

    // What the families share. Each has its state to itself.
    package let schemas = Schemas()
    package let quotas: Quotas
    let secret: StoreSecret
    let rates: CallerRates
    let indexes: IndexBuilding
    let pushes: PushDelivery
    let writing: ChangeWriter

    // The endpoints, and the way to them and back.
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

    // What is beside the endpoints.
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

    /// Makes a service over a store, which holds one environment of one container.
    ///
    /// - Parameters:
    ///   - store: what the service keeps.
    ///   - clock: the time that goes into the records' stamps.
    ///   - random: where names, epochs and request ids come from.
    ///   - container: the container served; requests for another are refused. With nil every path leads here,
    ///     as a test with one container wants it.
    ///   - publicURL: where clients reach the service, as `https://cloud.example.com`, for the addresses that it
    ///     hands out. With nil it is the host that a request names.
    ///   - accounts: authenticates requests. Nil uses a list in memory of `users` and those added by `addUser`.
    ///   - users: the users by web auth token, if `accounts` is nil.
    ///   - limits: what one request may ask for.
    ///   - groupLimits: how much one transaction takes in.
    ///   - settings: what it does where Apple's documents leave a choice.
    ///   - assetFiles: where the files of records are. With nil they are in memory.
    ///   - usageElsewhere: what users have in the container's other environment; nil: there is none.
    ///   - rates: how many requests a second may come.
    ///   - schemaMayGrow: whether saves may add to the schema; nil: everywhere but in production.
    public convenience init(
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

    /// Gives each family what it needs and nothing else.
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

    /// Lets `user` sign in with `token`, the value of a request's `ckWebAuthToken`. Only for a service that was
    /// made without accounts.
    public func addUser(_ user: ServiceUser, token: String) {
        ownAccounts.add(user, token: token)
    }

    /// Answers one request: a group of one. What it wrote is on disk when it returns.
    public func respond(to request: WireRequest) -> WireResponse {
        let prepared = prepare(request)
        return responses.response(to: prepared, answer: prepared.work.answerAlone(in: store))
    }

    /// Answers one request of an operator, as `respond(to:)` does for users. The caller has checked the session and the
    /// role.
    package func respond(to request: WireRequest, for caller: OperatorCaller) -> WireResponse {
        let prepared = prepare(request, for: caller)
        return responses.response(to: prepared, answer: prepared.work.answerAlone(in: store))
    }

    /// Takes a request in, to be answered by a later `commitGroup`. Doesn't touch the store.
    public func begin(_ request: WireRequest) -> ServiceTicket {
        groups.begin(prepare(request))
    }

    /// Answers the requests that wait, within the limits of a group, oldest first; the others keep waiting.
    ///
    /// All writes among them share one transaction, and each can be refused without the others. When the
    /// transaction itself is lost, each is tried again alone. What they wrote is on disk when this returns;
    /// reads among them see it.
    public func commitGroup() -> [(ticket: ServiceTicket, response: WireResponse)] { groups.commit() }
}
