public import CloudKit
public import CloudService
public import CloudStore
public import CloudWire
import Foundation
public import Seams

/// A cloud of your own in the test's process: the real framework talks to the real service, without sockets,
/// with a clock that the test moves and faults that the test orders.
///
///     let cloud = TestCloud()
///     let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
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
        var store: any CloudStore
        var thread: CloudServiceThread?
        var users: [String] = []
        var deviceCount = 0
        var orderedFailures: [RequestKind: [WireError]] = [:]
        var networkFault: (@Sendable (WireRequest) -> NetworkFault)?
        var disconnectedDevices: Set<Int> = []
        var log = RequestLog()
        var carrier: Carrier?
        var courier = TestCourier()
    }

    /// Carries a request to the service by another way than a call.
    package typealias Carrier =
        @Sendable (WireRequest, @escaping @Sendable (Result<WireResponse, CKError>) -> Void) -> Void

    /// Carries what the faults let through; nil for direct calls.
    package var carrier: Carrier? {
        get { state.withLock { $0.carrier } }
        set { state.withLock { $0.carrier = newValue } }
    }

    /// The service's clock. It stands still until the test moves it.
    public let clock: ManualTimeSource
    /// The seed of the names and ids that the service makes.
    public let seed: UInt64
    /// Which thread runs operations.
    public let execution: Execution
    /// Deadlines and pauses of the devices' requests, when `execution` is `inline`: they run out when the clock was
    /// moved and the test calls `runDue()`.
    public let timers: ManualTimerSource
    private let random: SeededRandomSource
    private let place: StorePlace
    /// The files of records, which outlive the service.
    private let assetFiles: any AssetFiles
    /// Where devices keep what they fetch; goes with the cloud.
    private let cacheFolder: URL
    let state: Lock<State>

    /// Makes an empty cloud in memory.
    /// - Parameters:
    ///   - seed: decides the names and ids that the service makes.
    ///   - execution: which thread runs operations.
    public convenience init(seed: UInt64 = 1, execution: Execution = .inline) {
        let store = MemoryCloudStore()
        self.init(place: .memory(store), store: store, seed: seed, execution: execution)
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
        self.init(place: place, store: try place.open(), seed: seed, execution: execution)
    }

    private init(place: StorePlace, store: any CloudStore, seed: UInt64, execution: Execution) {
        self.place = place
        self.seed = seed
        self.execution = execution
        clock = ManualTimeSource()
        timers = ManualTimerSource(clock: clock)
        random = SeededRandomSource(seed: seed)
        assetFiles = place.assetFiles(clock)
        cacheFolder = FileManager.default.temporaryDirectory
            .appendingPathComponent("TestCloud-" + SystemRandomSource().nextUUID())
        let service = CloudService(store: store, clock: clock, random: random, assetFiles: assetFiles)
        state = Lock(
            State(
                service: service, store: store,
                thread: execution == .threads ? CloudServiceThread(service) : nil))
        hearOfPushes()
    }

    deinit { try? FileManager.default.removeItem(at: cacheFolder) }

    /// What the service answers, for a `carrier` of the test's.
    package func answer(to request: WireRequest) -> WireResponse { service.respond(to: request) }

    /// The service that answers now.
    public var service: CloudService { state.withLock { $0.service } }
    /// What the service keeps now.
    public var store: any CloudStore { state.withLock { $0.store } }

    // MARK: Devices

    /// Makes a device on which `user` is signed in. Each call makes another device; devices of one user see
    /// the same private database.
    public func device(user: String) -> TestDevice {
        let number = state.withLock { state in
            state.deviceCount += 1
            if !state.users.contains(user) {
                state.users.append(user)
                state.service.addUser(Self.serviceUser(user), token: Self.token(user))
            }
            return state.deviceCount
        }
        return device(number: number, webAuthToken: Self.token(user))
    }

    /// Makes a device on which nobody is signed in.
    public func signedOutDevice() -> TestDevice {
        device(
            number: state.withLock { state in
                state.deviceCount += 1
                return state.deviceCount
            }, webAuthToken: nil)
    }

    /// Makes a device of `user` that keeps the files it fetches in `assetCache`.
    package func device(user: String, assetCache: AssetCache) -> TestDevice {
        let made = device(user: user)
        guard var place = try? made.container.place() else { return made }
        place.connection.assetCache = assetCache
        return TestDevice(
            number: made.number,
            container: CKContainer(identifier: place.identifier, connection: place.connection))
    }

    /// Makes a device on which users sign in and out as `account` says, with tokens of `token(of:)`.
    package func device(account: any CloudAccount) -> TestDevice {
        device(
            number: state.withLock { state in
                state.deviceCount += 1
                return state.deviceCount
            }, webAuthToken: nil, account: account)
    }

    /// The token of a user who has a device already.
    package func token(of user: String) -> String { Self.token(user) }

    private func device(number: Int, webAuthToken: String?, account: (any CloudAccount)? = nil) -> TestDevice
    {
        var connection = CloudConnection(
            transport: TestTransport(cloud: self, deviceNumber: number),
            execution: execution == .inline ? .inline : .threads,
            account: account
                ?? FixedAccount(CloudCredential(webAuthToken: webAuthToken, deviceID: "device-\(number)")),
            timers: execution == .inline ? timers : nil,
            // Of its own, so that what one device sends doesn't change what the service or another makes.
            random: SeededRandomSource(seed: seed &* 1_000 &+ UInt64(number)))
        connection.assetCache = AssetCache(folder: cacheFolder.appendingPathComponent("device-\(number)"))
        connection.shelf = OperationShelf(
            folder: cacheFolder.appendingPathComponent("operations-\(number)"), clock: clock)
        return TestDevice(
            number: number, container: CKContainer(identifier: "iCloud.yap.test", connection: connection))
    }

    private static func token(_ user: String) -> String { "token-of-\(user)" }
    private static func serviceUser(_ user: String) -> ServiceUser { ServiceUser(userRecordName: "_\(user)") }

    // MARK: Faults

    /// Lets the next requests of a kind fail, before the service sees them.
    /// - Parameters:
    ///   - kind: which requests.
    ///   - code: what the device gets.
    ///   - retryAfterSeconds: what the error says about when to try again.
    ///   - times: how many requests fail.
    public func fail(
        _ kind: RequestKind, with code: CKError.Code, retryAfterSeconds: Double? = nil, times: Int = 1
    ) {
        let error = WireError(
            .internalError, reason: "ordered by the test", retryAfterSeconds: retryAfterSeconds,
            ckErrorCode: code.rawValue)
        state.withLock {
            $0.orderedFailures[kind, default: []] += Array(repeating: error, count: times)
        }
    }

    /// Asked for each request what the network does to it; nil for a network without faults.
    public var networkFault: (@Sendable (WireRequest) -> NetworkFault)? {
        get { state.withLock { $0.networkFault } }
        set { state.withLock { $0.networkFault = newValue } }
    }

    /// Takes the network from a device: its requests fail with `CKError.networkUnavailable` and never reach the
    /// service.
    public func disconnect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.insert(device.number) }
        cutWaits { $0.deviceNumber == device.number }
    }

    /// Gives the network back to a device.
    public func connect(_ device: TestDevice) {
        state.withLock { _ = $0.disconnectedDevices.remove(device.number) }
    }

    /// Ends the service and starts another on what was kept: on the file as it is on the disk, or on the same
    /// memory.
    /// - Throws: what opening the store throws; then the old service goes on.
    public func restartService() throws {
        let store = try place.open()
        let ended = state.withLock { state in
            state.store = store
            let service = CloudService(store: store, clock: clock, random: random, assetFiles: assetFiles)
            for user in state.users { service.addUser(Self.serviceUser(user), token: Self.token(user)) }
            state.service = service
            let ended = state.thread
            state.thread = execution == .threads ? CloudServiceThread(service) : nil
            return ended
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

/// A device of a `TestCloud`: the app on it uses `container`.
public struct TestDevice: Sendable {
    /// Counts from 1 in the order in which the devices were made.
    public let number: Int
    /// The app's container, with the device's user signed in.
    public let container: CKContainer
}
