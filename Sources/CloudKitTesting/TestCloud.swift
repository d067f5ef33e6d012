package import CloudKit
package import CloudService
package import CloudStore
package import CloudWire
import Foundation
package import System

/// A cloud in the test's process: the app's code and the real framework use the real service, without sockets, accounts
/// or entitlements. The test moves the clock and schedules faults.
///
/// ```swift
/// let cloud = TestCloud()
/// let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
///
/// try await phone.container.privateCloudDatabase.save(record)
/// cloud.fail(.modifyRecords, with: .requestRateLimited, retryAfterSeconds: 3, times: 1)
/// cloud.clock.advance(bySeconds: 3)
/// ```
///
/// Code that uses `CKContainer.default()` is tested unchanged: `await phone.asDefault { await sync() }`.
///
/// A test can schedule:
///
/// - any error for a kind of request, or for one record, zone or subscription of it (`fail`);
/// - lost requests, lost responses, and requests that arrive twice (`loseRequests`, `loseReplies`, `repeatRequests`);
/// - a device without network (`disconnect`), and events during a request (`during`);
/// - a busy server (`throttle`), expired change tokens (`expireChangeTokens`), and a full quota (`setQuota`);
/// - queries that don't find the latest saves yet (`indexLagSeconds`);
/// - another account, or none (`TestDevice.signIn`, `signOut`, `setAccountStatus`);
/// - a production schema (`production()`, `init(productionSchema:)`);
/// - pushes (`deliverPushes`, `TestDevice.receivePushes`).
///
/// `serveDashboard()`, or `YAP_DASHBOARD=1` in the environment, shows the cloud in a browser while the test waits.
///
/// With `Execution.inline`, the default, an operation and all its blocks have run when `add(_:)` returns, on the
/// calling thread. So a test waits for nothing, and the same seed gives the same run.
public final class TestCloud: Sendable {
    /// The threads that run operations.
    public enum Execution: Sendable {
        /// Operations run on the thread that adds them, before `add(_:)` returns.
        case inline
        /// Operations run on queues, as in an app. The service has a thread of its own.
        case threads
    }

    /// A fault of the network.
    public enum NetworkFault: Sendable, Hashable, CaseIterable {
        /// No fault.
        case none
        /// The request is lost before it reaches the service. The device gets `CKError.networkFailure`.
        case loseRequest
        /// The service executes the request, and the response is lost. The device gets `CKError.networkFailure`.
        case loseReply
        /// The service gets the request twice. The device gets the first response.
        case duplicate
    }

    /// The location of the cloud's store.
    private enum StorePlace {
        case memory(MemoryCloudStore)
        case file(path: String)

        func assetFiles(_ clock: any TimeSource) -> any AssetStore {
            switch self {
            case .memory: MemoryAssetStore(clock: clock)
            case .file(let path): DiskAssetStore(path: path + ".assets", clock: clock)
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
        /// The oldest valid counter of database tokens, by the record name of the owner.
        var databaseFloors: [String: Int64] = [:]
        var networkFault: (@Sendable (WireRequest) -> NetworkFault)?
        var disconnectedDevices: Set<Int> = []
        var log = TestRequestLog()
        var carrier: Carrier?
        var courier = TestCourier()
        var dashboard: TestDashboard?
    }

    /// The identifier of all devices' containers.
    static let containerIdentifier = "iCloud.yap.test"

    /// Sends a request to the service in place of a direct call.
    package typealias Carrier =
        @Sendable (WireRequest, @escaping @Sendable (Result<WireResponse, CKError>) -> Void) -> Void

    /// Sends the requests that the faults don't stop; nil for direct calls.
    package var carrier: Carrier? {
        get { state.withLock { $0.carrier } }
        set {
            // The previous closure is released after the lock.
            _ = state.withLock { state in
                defer { state.carrier = newValue }
                return state.carrier
            }
        }
    }

    /// The service's clock. It stands still until the test moves it: `cloud.clock.advance(bySeconds: 3)`. Devices that
    /// wait for it, for example before a retry, continue with `deliverPushes()`.
    ///
    /// `now()` in a predicate uses it too: in queries and subscriptions of devices, within `TestDevice.asDefault`, and
    /// after `makeDefault()`.
    public let clock: TestClock
    /// The seed of the names and IDs that the service makes.
    public let seed: UInt64
    /// The threads that run operations.
    public let execution: Execution
    /// `development` or `production`.
    public let environment: String
    /// Timers of the devices' requests with `Execution.inline`. They fire when the clock has moved and the test calls
    /// `runDue()`.
    package let timers: ManualTimerSource
    private let random: SeededRandomSource
    private let place: StorePlace
    /// The files of records. They outlive the service.
    let assetFiles: any AssetStore
    /// The devices' folder for fetched files. Deleted with the cloud.
    private let cacheFolder: URL
    let state: Lock<State>

    /// Makes an empty cloud in memory.
    /// - Parameters:
    ///   - seed: the seed of the names and IDs that the service makes.
    ///   - execution: the threads that run operations.
    public convenience init(seed: UInt64 = 1, execution: Execution = .inline) {
        self.init(memory: MemoryCloudStore(), environment: "development", seed: seed, execution: execution)
    }

    /// Makes a cloud in an SQLite file, with the content of an existing file.
    /// - Parameters:
    ///   - path: the file. It is created if it doesn't exist.
    ///   - seed: the seed of the names and IDs that the service makes.
    ///   - execution: the threads that run operations.
    /// - Throws: the errors of opening the store.
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
        // Declared as a folder, so that no disk access is needed to find out.
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

    /// Returns the service's response, for a `carrier` of the test.
    package func answer(to request: WireRequest) -> WireResponse { service.respond(to: request) }

    /// The current service.
    package var service: CloudService { state.withLock { $0.service } }
    /// The current store.
    package var store: any CloudStore { state.withLock { $0.store } }

    // MARK: Devices

    /// Makes another device on which `user` is signed in. Devices of one user share the private database.
    /// - Parameter user: any name.
    /// - Returns: the device.
    public func device(user: String) -> TestDevice {
        admit(user)
        return newDevice(user: user)
    }

    /// Makes a device on which no user is signed in.
    /// - Returns: the device.
    public func signedOutDevice() -> TestDevice {
        newDevice(user: nil)
    }

    /// Makes a device of `user` with a cache of its own for fetched files.
    package func device(user: String, assetCache: AssetCache) -> TestDevice {
        admit(user)
        return newDevice(user: user, assetCache: assetCache)
    }

    /// Makes a device with an account of the test. Its tokens come from `token(of:)`.
    package func device(account: any CloudAccount) -> TestDevice {
        newDevice(user: nil, account: account)
    }

    /// Returns the token of a user that already has a device.
    package func token(of user: String) -> String { Self.token(user) }

    /// Adds a user to the service.
    func admit(_ user: String) {
        let dashboard = state.withLock { state -> TestDashboard? in
            guard !state.users.contains(user) else { return nil }
            state.users.append(user)
            state.service.addUser(Self.serviceUser(user), token: Self.token(user))
            return state.dashboard
        }
        // If this fails, only the dashboard's list lacks the user; the test continues.
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
            // Its own, so that requests of one device don't change the names that others get.
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

    /// Restarts the service on its store: on the file, or on the same memory.
    /// - Throws: the errors of opening the store. The old service then continues.
    public func restartService() throws {
        let base = try place.open()
        // The previous service and store are released after the lock.
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

    // MARK: Sent requests

    /// The last requests of all devices, the oldest first; maximum 1,000.
    public var requests: [LoggedRequest] { state.withLock { $0.log.entries } }

    /// Returns the number of requests so far.
    /// - Parameter kind: the kind of requests; nil for all.
    public func requestCount(_ kind: RequestKind? = nil) -> Int {
        state.withLock { state in
            guard let kind else { return state.log.counts.values.reduce(0, +) }
            return state.log.counts[kind] ?? 0
        }
    }
}
