public import Foundation

/// What is known of the user's account.
public enum CKAccountStatus: Int, Sendable {
    /// It couldn't be found out; the error that comes with it says why.
    case couldNotDetermine = 0
    /// The user is signed in.
    case available = 1
    /// The account's administrator doesn't allow it.
    case restricted = 2
    /// Nobody is signed in.
    case noAccount = 3
    /// The account can't be used for a while.
    case temporarilyUnavailable = 4
}

/// An app's part of the cloud: a public database, and for each user a private and a shared one.
///
/// Where the cloud of a container is, the configuration says: environment variables, the file `cloudkit.json`, or a
/// call of the module `CloudKitAdditions`. Without one every operation fails with `CKError.badContainer`, which says
/// what to write, and where.
open class CKContainer: NSObject, @unchecked Sendable {
    // Sendable because every stored property is set in the initializer and then only read; a subclass
    // restates it.

    /// The container's identifier; nil for the default container of a program that names none.
    public var containerIdentifier: String? { core.identifier }
    /// The user's own database.
    public let privateCloudDatabase: CKDatabase
    /// The database that every user of the app reads.
    public let publicCloudDatabase: CKDatabase
    /// What others share with the user.
    public let sharedCloudDatabase: CKDatabase
    let core: ContainerCore
    private let defaults: OperationDefaults

    private static let defaultContainer = CKContainer(core: ContainerCore(configuredIdentifier: nil))

    /// The program's own container: the one that the environment variable `CLOUDKIT_CONTAINER` names, or the
    /// `defaultContainer` of the configuration.
    public class func `default`() -> CKContainer { inPlaceOfDefault ?? defaultContainer }

    /// The container with `identifier`.
    public required convenience init(identifier: String) {
        self.init(core: Self.substituteCore(identifier) ?? ContainerCore(configuredIdentifier: identifier))
    }

    /// The container with `identifier` on `connection`.
    package convenience init(identifier: String, connection: CloudConnection) {
        self.init(core: ContainerCore(ResolvedContainer(identifier: identifier, connection: connection)))
    }

    /// The container with `identifier`, for which `configuration` counts and nothing else.
    package convenience init(identifier: String?, configuration: CloudConfiguration) {
        self.init(core: ContainerCore(configuredIdentifier: identifier, configuration: configuration))
    }

    init(core: ContainerCore, defaults: OperationDefaults = OperationDefaults()) {
        self.core = core
        self.defaults = defaults
        publicCloudDatabase = CKDatabase(scope: .public, core: core, defaults: defaults)
        privateCloudDatabase = CKDatabase(scope: .private, core: core, defaults: defaults)
        sharedCloudDatabase = CKDatabase(scope: .shared, core: core, defaults: defaults)
        super.init()
    }

    /// Where the container's cloud is.
    /// - Throws: `CKError.badContainer` when no configuration says so.
    package func resolved() throws(CKError) -> (identifier: String, connection: CloudConnection) {
        let resolved = try core.resolved()
        return (resolved.identifier, resolved.connection)
    }

    /// The database with `scope`: always the same object.
    public func database(with scope: CKDatabase.Scope) -> CKDatabase {
        switch scope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }

    /// Runs `operation`. One on a database that names none runs on the private database.
    public func add(_ operation: CKOperation) {
        operation.defaultDatabase = privateCloudDatabase
        defaults.fill(operation)
        core.start(operation)
    }

    /// Asks who the user is.
    /// - Returns: the ID of the user's own record.
    /// - Throws: `CKError.notAuthenticated` when nobody is signed in, and what else an operation can meet.
    public func userRecordID() async throws -> CKRecord.ID {
        try await publicCloudDatabase.result { self.startUserRecordID($0) }
    }

    /// Asks who the user is, and calls `completionHandler` with the ID of the user's own record or the error.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void)
    {
        startUserRecordID { completionHandler($0.value, $0.error) }
    }

    /// Whether the user is signed in on this device, and may use the account.
    ///
    /// The device itself knows that nobody is signed in. Else the server is asked, which may have ended the sign-in;
    /// when it says nothing about the account (there is no network, it is down or busy), the user counts as signed
    /// in, as with Apple's framework offline.
    /// - Throws: `CKError` when it couldn't be found out: the container names no cloud, or what is kept of the
    ///   sign-in can't be read.
    public func accountStatus() async throws -> CKAccountStatus {
        try await publicCloudDatabase.result { self.startAccountStatus($0) }
    }

    /// Whether the user is signed in on this device, and may use the account, as `accountStatus()` says it; calls
    /// `completionHandler` with the answer, or with `couldNotDetermine` and the error.
    @preconcurrency
    public func accountStatus(completionHandler: @escaping @Sendable (CKAccountStatus, (any Error)?) -> Void)
    {
        startAccountStatus { completionHandler($0.value ?? .couldNotDetermine, $0.error) }
    }

    @discardableResult
    private func startAccountStatus(
        _ completion: @escaping @Sendable (Result<CKAccountStatus, any Error>) -> Void
    ) -> CKOperation {
        let operation = AccountStatusOperation(resultBlock: completion)
        publicCloudDatabase.add(operation)
        return operation
    }

    @discardableResult
    private func startUserRecordID(
        _ completion: @escaping @Sendable (Result<CKRecord.ID, any Error>) -> Void
    ) -> CKOperation {
        let operation = ExchangeOperation(resultBlock: completion) {
            CurrentUserExchange(address: $0.ofUsers)
        }
        add(operation)
        return operation
    }
}

extension Notification.Name {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// Posted when a user signed in or out, or another one did, also in another process of this device.
    public static let CKAccountChanged = Notification.Name("CKAccountChangedNotification")
}
