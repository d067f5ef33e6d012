public import Foundation

/// The status of the user's account.
public enum CKAccountStatus: Int, Sendable {
    /// The status can't be determined. The error has the reason.
    case couldNotDetermine = 0
    /// The user is signed in.
    case available = 1
    /// The administrator of the account doesn't allow its use.
    case restricted = 2
    /// No user is signed in.
    case noAccount = 3
    /// The account can't be used temporarily.
    case temporarilyUnavailable = 4
}

/// An app's data in the cloud: a public database, and a private and a shared one for each user.
///
/// The configuration names the container's server: environment variables, the file `cloudkit.json`, or a call
/// of the module `CloudKitAdditions`. Without a configuration, every operation fails with
/// `CKError.badContainer`, whose message has the required configuration and its file.
open class CKContainer: NSObject, @unchecked Sendable {
    // Sendable because every stored property is set in the initializer and then only read; a subclass
    // restates it.

    /// The container's identifier; nil for the default container of a program that names none.
    public var containerIdentifier: String? { core.identifier }
    /// The user's own database.
    public let privateCloudDatabase: CKDatabase
    /// The database that every user of the app reads.
    public let publicCloudDatabase: CKDatabase
    /// The records that other users share with the user.
    public let sharedCloudDatabase: CKDatabase
    let core: ContainerCore
    private let defaults: OperationDefaults

    private static let defaultContainer = CKContainer(core: ContainerCore(configuredIdentifier: nil))

    /// Returns the default container: the value of the environment variable `CLOUDKIT_CONTAINER`, or
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

    /// The container with `identifier`, with this configuration only; nil takes the current configuration.
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

    /// Returns the container's identifier and connection.
    /// - Throws: `CKError.badContainer` if no configuration names its server.
    package func resolved() throws(CKError) -> (identifier: String, connection: CloudConnection) {
        let resolved = try core.resolved()
        return (resolved.identifier, resolved.connection)
    }

    /// Returns the database with `scope`: always the same object.
    public func database(with scope: CKDatabase.Scope) -> CKDatabase {
        switch scope {
        case .public: publicCloudDatabase
        case .private: privateCloudDatabase
        case .shared: sharedCloudDatabase
        }
    }

    /// Runs `operation`. Database operations without a database run on the private database.
    public func add(_ operation: CKOperation) {
        operation.defaultDatabase = privateCloudDatabase
        defaults.fill(operation)
        core.start(operation)
    }

    /// Fetches the ID of the user's own record.
    /// - Returns: the record ID.
    /// - Throws: `CKError.notAuthenticated` if no user is signed in, or another error of an operation.
    public func userRecordID() async throws -> CKRecord.ID {
        try await publicCloudDatabase.result { self.startUserRecordID($0) }
    }

    /// Fetches the ID of the user's own record, and calls `completionHandler` with it or the error.
    @preconcurrency
    public func fetchUserRecordID(completionHandler: @escaping @Sendable (CKRecord.ID?, (any Error)?) -> Void)
    {
        startUserRecordID { completionHandler($0.value, $0.error) }
    }

    /// Determines if a user is signed in on this device and may use the account.
    ///
    /// Without a sign-in, the status is known locally. Otherwise the server is queried, because it may have
    /// ended the sign-in. If the server can't be reached or is busy, the user counts as signed in, as in
    /// Apple's framework.
    /// - Throws: `CKError` if the status can't be determined: the container has no server, or the stored
    ///   sign-in can't be read.
    public func accountStatus() async throws -> CKAccountStatus {
        try await publicCloudDatabase.result { self.startAccountStatus($0) }
    }

    /// Determines the account status as `accountStatus()` does, and calls `completionHandler` with it, or with
    /// `couldNotDetermine` and the error.
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
