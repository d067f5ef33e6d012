package import CloudKit
package import CloudService
package import CloudStore
package import CloudWire
import Foundation
package import System

/// A cloud of your own in the test's process: your app's code and the real framework talk to the real service,
/// without sockets, accounts or entitlements, with a clock that the test moves and faults that the test orders.
///
///     let cloud = TestCloud()
///     let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
///
///     try await phone.container.privateCloudDatabase.save(record)
///     cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 1)
///     cloud.clock.advance(bySeconds: 3)
///
/// Code that says `CKContainer.default()` is tested as it is: `await phone.asDefault { await sync() }`.
///
/// What can be ordered: any error for any kind of request, or for one record, zone or subscription of it (`fail`);
/// lost requests, lost answers and requests that arrive twice (`loseRequests`, `loseReplies`, `repeatRequests`); a
/// network that is gone (`disconnect`); what happens while a request is on its way (`during`); a server that is busy
/// for a while (`throttle`); change tokens that are too old (`expireChangeTokens`); a full iCloud (`setQuota`);
/// queries that don't find yet what was just saved (`indexLagSeconds`); another account, or none
/// (`TestDevice.signIn`, `signOut`, `setAccountStatus`); a production schema that refuses what wasn't deployed
/// (`production()`, `init(productionSchema:)`); and pushes, which come when the test says so (`deliverPushes`,
/// `TestDevice.receivePushes`).
///
/// `serveDashboard()`, or `YAP_DASHBOARD=1` in the environment, shows the cloud of a test that waits in a browser.
///
/// With `Execution.inline`, the default, an operation and all its blocks have run when `add(_:)` returns, on
/// the calling thread: nothing has to be waited for, and the same seed gives the same run.
public final class TestCloud: Sendable {
    /// Which thread runs operations.
    public enum Execution: Sendable {
        /// The thread that adds an operation, before `add(_:)` returns.
        case inline
        /// Queues, as in an app; the service has a thread of its own.
        case threads
    }

    /// What the network does to a request.
    public enum NetworkFault: Sendable, Hashable, CaseIterable {
        /// Nothing: it is carried there and its answer back.
        case none
        /// The service never sees it. The device gets `CKError.networkFailure`.
        case loseRequest
        /// The service does what it asks, and the answer is lost. The device gets `CKError.networkFailure`.
        case loseReply
        /// The service gets it twice. The device gets the first answer.
        case duplicate
    }

    /// What kept is kept in.
    private enum StorePlace {
        case memory(MemoryCloudStore)
        case file(path: String)

        func assetFiles(_ clock: any TimeSource) -> any AssetFiles {
            switch self {
            case .memory: MemoryAssetFiles(clock: clock)
            case .file(let path): DiskAssetFiles(path: path + ".assets", clock: clock)
            }
        }

        func open() throws -> any CloudStore {
            switch self {
            case .memory(let store): store
            case .file(let path): try SQLiteCloudStore(path: path)
            }
        }
    }

    struct State {
        var service: CloudService
        var store: DelayedIndexStore
        var thread: CloudServiceThread?
        var users: [String] = []
        var deviceCount = 0
        var faults = ScheduledFaults()
        var throttling = Throttling()
        /// By the record names of their owners: tokens of databases' changes that say less are too old.
        var databaseFloors: [String: Int64] = [:]
        var networkFault: (@Sendable (WireRequest) -> NetworkFault)?
        var disconnectedDevices: Set<Int> = []
        var log = TestRequestLog()
        var carrier: Carrier?
        var courier = TestCourier()
        var dashboard: TestDashboard?
    }

    /// The container that all devices have.
    static let containerIdentifier = "iCloud.yap.test"

    /// Carries a request to the service by another way than a call.
    package typealias Carrier =
        @Sendable (WireRequest, @escaping @Sendable (Result<WireResponse, CKError>) -> Void) -> Void

    /// Carries what the faults let through; nil for direct calls.
    package var carrier: Carrier? {
        get { state.withLock { $0.carrier } }
        set {
            // The closure before is released after the lock.
            _ = state.withLock { state in
                defer { state.carrier = newValue }
                return state.carrier
            }
        }
    }

    /// The service's clock. It stands still until the test moves it: `cloud.clock.advance(bySeconds: 3)`. What waits
    /// for it on a device (a pause before a request is sent again, say) goes on with `deliverPushes()`.
    ///
    /// `now()` in a predicate means it too: in a query or a subscription of a device, and in what
    /// `TestDevice.asDefault` runs or after `makeDefault()`.
    public let clock: TestClock
    /// The seed of the names and ids that the service makes.
    public let seed: UInt64
    /// Which thread runs operations.
    public let execution: Execution
    /// `development` or `production`.
    public let environment: String
    /// Deadlines and pauses of the devices' requests, when `execution` is `inline`: they run out when the clock was
    /// moved and the test calls `runDue()`.
    package let timers: ManualTimerSource
    private let random: SeededRandomSource
    private let place: StorePlace
    /// The files of records, which outlive the service.
    let assetFiles: any AssetFiles
    /// Where devices keep what they fetch; goes with the cloud.
    private let cacheFolder: URL
    let state: Lock<State>

    /// Makes an empty cloud in memory.
    /// - Parameters:
    ///   - seed: decides the names and ids that the service makes.
    ///   - execution: which thread runs operations.
    public convenience init(seed: UInt64 = 1, execution: Execution = .inline) {
        self.init(memory: MemoryCloudStore(), environment: "development", seed: seed, execution: execution)
    }

    /// Makes a cloud in an SQLite file, which may hold one from before.
    /// - Parameters:
    ///   - path: the file; it is made when it isn't there.
    ///   - seed: decides the names and ids that the service makes.
    ///   - execution: which thread runs operations.
    /// - Throws: what opening the store throws.
    public convenience init(sqlitePath path: String, seed: UInt64 = 1, execution: Execution = .inline) throws
    {
        let place = StorePlace.file(path: path)
        self.init(
            place: place, store: try place.open(), environment: "development", seed: seed,
            execution: execution)
    }

    convenience init(memory: MemoryCloudStore, environment: String, seed: UInt64, execution: Execution) {
        self.init(
            place: .memory(memory), store: memory, environment: environment, seed: seed,
            execution: execution)
    }

    private init(
        place: StorePlace, store: any CloudStore, environment: String, seed: UInt64, execution: Execution
    ) {
        self.place = place
        self.seed = seed
        self.execution = execution
        self.environment = environment
        clock = TestClock()
        timers = ManualTimerSource(clock: clock)
        random = SeededRandomSource(seed: seed)
        assetFiles = place.assetFiles(clock)
        // Told that it is a folder, so that nobody looks whether it is one.
        cacheFolder = FileManager.default.temporaryDirectory
            .appendingPathComponent("TestCloud-" + SystemRandomSource().nextUUID(), isDirectory: true)
        let store = DelayedIndexStore(store, clock: clock)
        let service = CloudService(
            store: store, clock: clock, random: random, assetFiles: assetFiles,
            schemaMayGrow: environment != "production")
        state = Lock(
            State(
                service: service, store: store,
                thread: execution == .threads ? CloudServiceThread(service) : nil))
        hearOfPushes()
        serveDashboardIfAsked()
    }

    deinit { try? FileManager.default.removeItem(at: cacheFolder) }

    /// What the service answers, for a `carrier` of the test's.
    package func answer(to request: WireRequest) -> WireResponse { service.respond(to: request) }

    /// The service that answers now.
    package var service: CloudService { state.withLock { $0.service } }
    /// What the service keeps now.
    package var store: any CloudStore { state.withLock { $0.store } }

    // MARK: Devices

    /// Makes a device on which `user` is signed in. Each call makes another device; devices of one user see
    /// the same private database.
    public func device(user: String) -> TestDevice {
        admit(user)
        return newDevice(user: user)
    }

    /// Makes a device on which nobody is signed in.
    public func signedOutDevice() -> TestDevice {
        newDevice(user: nil)
    }

    /// Makes a device of `user` that keeps the files it fetches in `assetCache`.
    package func device(user: String, assetCache: AssetCache) -> TestDevice {
        admit(user)
        return newDevice(user: user, assetCache: assetCache)
    }

    /// Makes a device on which users sign in and out as `account` says, with tokens of `token(of:)`.
    package func device(account: any CloudAccount) -> TestDevice {
        newDevice(user: nil, account: account)
    }

    /// The token of a user who has a device already.
    package func token(of user: String) -> String { Self.token(user) }

    /// Lets the service know a user.
    func admit(_ user: String) {
        let dashboard = state.withLock { state -> TestDashboard? in
            guard !state.users.contains(user) else { return nil }
            state.users.append(user)
            state.service.addUser(Self.serviceUser(user), token: Self.token(user))
            return state.dashboard
        }
        // Without its name in the list, the user's records can't be chosen there; the test goes on.
        try? dashboard?.add(user)
    }

    private func newDevice(
        user: String?, account: (any CloudAccount)? = nil, assetCache: AssetCache? = nil
    ) -> TestDevice {
        let number = state.withLock { state in
            state.deviceCount += 1
            return state.deviceCount
        }
        let testAccount = account == nil ? TestAccount(user: user, deviceID: "device-\(number)") : nil
        var connection = CloudConnection(
            transport: TestTransport(cloud: self, deviceNumber: number, account: testAccount),
            execution: execution == .inline ? .inline : .threads, environment: environment,
            account: account ?? testAccount ?? FixedAccount(CloudCredential()),
            timers: execution == .inline ? timers : nil,
            // Of its own, so that what one device sends doesn't change what the service or another makes.
            random: SeededRandomSource(seed: seed &* 1_000 &+ UInt64(number)))
        connection.clock = clock
        connection.assetCache =
            assetCache
            ?? AssetCache(folder: cacheFolder.appendingPathComponent("device-\(number)", isDirectory: true))
        connection.operationStore = LongLivedOperationStore(
            folder: cacheFolder.appendingPathComponent("operations-\(number)", isDirectory: true),
            clock: clock)
        return TestDevice(
            number: number,
            container: CKContainer(identifier: Self.containerIdentifier, connection: connection),
            cloud: self, account: testAccount)
    }

    static func token(_ user: String) -> String { "token-of-\(user)" }
    static func userRecordName(_ user: String) -> String { "_\(user)" }
    private static func serviceUser(_ user: String) -> ServiceUser {
        ServiceUser(userRecordName: userRecordName(user))
    }

    /// Ends the service and starts another on what was kept: on the file as it is on the disk, or on the same
    /// memory.
    /// - Throws: what opening the store throws; then the old service goes on.
    public func restartService() throws {
        let base = try place.open()
        // The service and the store before are released after the lock.
        let (ended, _, _) = state.withLock { state in
            let before = (state.thread, state.service, state.store)
            let store = DelayedIndexStore(base, clock: clock, replacing: state.store)
            state.store = store
            let service = CloudService(
                store: store, clock: clock, random: random, assetFiles: assetFiles,
                schemaMayGrow: environment != "production")
            for user in state.users { service.addUser(Self.serviceUser(user), token: Self.token(user)) }
            let quotas = state.service.quotas.ordered
            service.quotas.order(quotas)
            state.service = service
            state.thread = execution == .threads ? CloudServiceThread(service) : nil
            return before
        }
        ended?.stop()
        hearOfPushes()
        cutWaits { _ in true }
    }

    private func hearOfPushes() {
        guard execution == .threads else { return }
        service.setPushListener { [weak self] tokens in self?.pushesReady(tokens) }
    }

    // MARK: What was sent

    /// The last requests of all devices, the oldest first, 1,000 at most.
    public var requests: [LoggedRequest] { state.withLock { $0.log.entries } }

    /// How many requests of `kind` were made so far; with nil, of all kinds.
    public func requestCount(_ kind: RequestKind? = nil) -> Int {
        state.withLock { state in
            guard let kind else { return state.log.counts.values.reduce(0, +) }
            return state.log.counts[kind] ?? 0
        }
    }
}
