import CloudStore
import CloudWire
import Seams

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
    let clock: any TimeSource
    let random: any RandomSource
    let groupLimits: GroupLimits
    let container: Container?
    /// Where clients reach the service; nil: where the request says that it went.
    let publicURL: String?
    let knownCallers = Lock(KnownCallers())
    let rates: Lock<RateKeeper>
    let serverSignatures = Lock(ServerSignatures())
    let waiting = Lock(WaitingRequests())
    package let schemas = Schemas()
    let assetFiles: any AssetFiles
    let secret: StoreSecret
    let assetTickets: AssetTickets
    let assets: AssetsEndpoints
    let unsaved: UnsavedFiles
    private let transfers: AssetTransfers
    private let collection: AssetCollection
    let answers: KeptAnswers
    let indexes: IndexBuilding
    package let clearedRows: ClearedRows
    let watches: QueryWatches
    package let webhooks: Webhooks
    let pushes: PushDelivery
    let writing: ChangeWriter
    let notifications: NotificationsEndpoints
    let subscriptions: SubscriptionsEndpoints
    package let tokens: TokensEndpoints
    let pruning: Pruning
    let zoneCounting: ZoneCounting
    let upkeep: Upkeep
    let accounts: any ServiceAccounts
    /// Whether saves may add to the schema.
    let schemaMayGrow: Bool
    package let quotas: Quotas
    /// The accounts, when nobody has given others.
    private let ownAccounts: ServiceAccountList

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
    ///   - accounts: who may ask. With nil it is a list in memory of `users` and of whom `addUser` adds.
    ///   - users: who signs in with which web auth token, when there are no `accounts`.
    ///   - limits: what one request may ask for.
    ///   - groupLimits: how much one transaction takes in.
    ///   - settings: what it does where Apple's documents leave a choice.
    ///   - assetFiles: where the files of records are. With nil they are in memory.
    ///   - usageElsewhere: what users have in the container's other environment; nil: there is none.
    ///   - rates: how many requests a second may come.
    ///   - schemaMayGrow: whether saves may add to the schema; nil: everywhere but in production.
    public init(
        store: any CloudStore, clock: any TimeSource, random: any RandomSource, container: Container? = nil,
        publicURL: String? = nil,
        accounts: (any ServiceAccounts)? = nil, users: [String: ServiceUser] = [:],
        limits: ServiceLimits = ServiceLimits(), groupLimits: GroupLimits = GroupLimits(),
        settings: ServiceSettings = ServiceSettings(),
        assetFiles: (any AssetFiles)? = nil, usageElsewhere: UsageElsewhere? = nil,
        rates: ServiceRates = .unlimited,
        schemaMayGrow: Bool? = nil
    ) {
        precondition(accounts == nil || users.isEmpty, "users belong into the accounts")
        self.store = store
        self.clock = clock
        self.random = random
        self.container = container
        self.publicURL = publicURL
        ownAccounts = ServiceAccountList(users: users)
        self.accounts = accounts ?? ownAccounts
        self.limits = limits
        self.groupLimits = groupLimits
        self.settings = settings
        let files = assetFiles ?? MemoryAssetFiles(clock: clock)
        self.assetFiles = files
        quotas = Quotas(limits: limits, clock: clock, elsewhere: usageElsewhere)
        secret = StoreSecret(store: store, random: random)
        assetTickets = AssetTickets(secret: secret, clock: clock, files: files, limits: limits.assets)
        assets = AssetsEndpoints(
            limits: limits, clock: clock, random: random, schemas: schemas, tickets: assetTickets)
        unsaved = UnsavedFiles(store: store, clock: clock, limits: limits.assets)
        transfers = AssetTransfers(store: store, clock: clock, tickets: assetTickets, unsaved: unsaved)
        collection = AssetCollection(store: store, clock: clock, files: files, limits: limits.assets)
        answers = KeptAnswers(clock: clock, limits: limits)
        indexes = IndexBuilding(store: store, schemas: schemas, limits: limits)
        clearedRows = ClearedRows(store: store, limits: limits.clearing)
        watches = QueryWatches(schemas: schemas, limits: limits, clock: clock, random: random)
        webhooks = Webhooks(
            store: store, clock: clock, random: random, container: container, limits: limits)
        pushes = PushDelivery(
            store: store, clock: clock, random: random, container: container, limits: limits,
            watches: watches, webhooks: webhooks)
        writing = ChangeWriter(
            schemas: schemas, answers: answers, indexes: indexes, clearedRows: clearedRows, pushes: pushes)
        notifications = NotificationsEndpoints(
            container: container, limits: limits, clock: clock, random: random, pushes: pushes)
        subscriptions = SubscriptionsEndpoints(
            limits: limits, random: random, schemas: schemas, answers: answers)
        tokens = TokensEndpoints(store: store, limits: limits, clock: clock, random: random)
        pruning = Pruning(
            store: store, clock: clock, limits: limits,
            notifications: NotificationPruning(limits: limits, clock: clock, random: random),
            webhooks: webhooks, indexes: indexes)
        zoneCounting = ZoneCounting(store: store)
        upkeep = Upkeep(
            pushes: pushes, indexes: indexes, zoneCounting: zoneCounting, clearedRows: clearedRows,
            pruning: pruning, files: collection, answers: answers)
        self.rates = Lock(RateKeeper(rates))
        self.schemaMayGrow = schemaMayGrow ?? (container?.environment != "production")
    }

    /// Lets `user` sign in with `token`, the value of a request's `ckWebAuthToken`. Only for a service that was
    /// made without accounts.
    public func addUser(_ user: ServiceUser, token: String) {
        ownAccounts.add(user, token: token)
    }

    /// Answers one request: a group of one. What it wrote is on disk when it returns.
    public func respond(to request: WireRequest) -> WireResponse {
        let prepared = prepare(request)
        return response(to: prepared, answer: answerAlone(prepared.work))
    }

    /// Answers one request of an operator, as `respond(to:)` does for users. The caller has checked the session and the
    /// role.
    package func respond(to request: WireRequest, for caller: OperatorCaller) -> WireResponse {
        let prepared = prepare(request, for: caller)
        return response(to: prepared, answer: answerAlone(prepared.work))
    }
}

// MARK: - Files

extension CloudService {
    /// Begins to take a file that is sent to an address of `assets/upload`. Blocks.
    ///
    /// - Parameter ticket: the item `t` of the address.
    /// - Throws: when the address is not one of this service's, or has run out.
    public func beginUpload(ticket: String) throws(WireError) -> AssetUpload {
        try transfers.begin(ticket: ticket)
    }

    /// Opens the file that an address in a record leads to, as long as some record of that database holds it. Blocks.
    ///
    /// - Parameters:
    ///   - checksum: the part of the address that names the file.
    ///   - ticket: the item `t` of the address.
    /// - Throws: when the address is not one of this service's or has run out, or the file is gone: which of these
    ///   is not told.
    public func openAsset(checksum: String, ticket: String) throws(WireError) -> AssetDownload {
        try transfers.open(checksum: checksum, ticket: ticket)
    }

    /// Removes files that no record of the environment holds, and that are too old for anybody to save one with them.
    /// One bounded step; true when there may be more.
    ///
    /// `CloudServiceThread` does it by itself. Nothing is removed while a backup is made.
    ///
    /// - Throws: `CloudStoreError`; then nothing was removed.
    @discardableResult public func collectUnusedFiles() throws -> Bool { try collection.collectUnused() }
}

// MARK: - Pushes and upkeep

extension CloudService {
    /// Lets `listener` know the tokens of the devices for which pushes wait, when they are on disk. It is called on the
    /// thread that wrote them, and must not wait.
    public func setPushListener(_ listener: (@Sendable (_ apnsTokens: [String]) -> Void)?) {
        pushes.setListener(listener)
    }

    /// Makes pushes of the changes that nobody was told of yet: one bounded step, in a transaction of its own.
    /// True when there may be more.
    ///
    /// `CloudServiceThread` does it by itself, also at its start, for what was left before. Call this after `respond`
    /// and `commitGroup`.
    ///
    /// - Throws: `CloudStoreError`; then the changes wait for the next step.
    @discardableResult public func preparePushes() throws -> Bool { try pushes.prepare() }

    /// Lets `listener` know what the upkeep has pruned, when that is on disk. It is called on the thread that wrote it,
    /// and must not wait.
    public func setPruneListener(_ listener: (@Sendable (PrunedCounts) -> Void)?) {
        pruning.setListener(listener)
    }

    /// Discards what has outlived its use: kept answers, pushes that nobody took, devices that were not heard of, and
    /// what says that records and zones were deleted. One bounded step; true when there may be more.
    ///
    /// `CloudServiceThread` does it by itself.
    ///
    /// - Throws: `CloudStoreError`; then nothing was discarded.
    @discardableResult public func pruneOutdated() throws -> Bool { try pruning.pruneOutdated() }

    /// Does each step of the upkeep that is due, pushes first. True when there may be more.
    package func keepUp() throws -> Bool { try upkeep.keepUp() }
}
