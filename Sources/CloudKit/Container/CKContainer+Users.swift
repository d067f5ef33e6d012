internal import CloudWire
import Foundation
internal import System

extension CKContainer {
    /// Permissions that an app requests from the user.
    public struct ApplicationPermissions: OptionSet, Sendable, Hashable {
        /// The bits, as Apple numbers them.
        public let rawValue: UInt

        /// Makes the set with these bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Other users that know the user's email address or record ID can find the user's name.
        public static let userDiscoverability = ApplicationPermissions(rawValue: 1)
    }

    /// The state of a permission.
    public enum ApplicationPermissionStatus: Int, Sendable {
        /// The user wasn't asked yet. Not used here: the permission then counts as denied.
        case initialState = 0
        /// The status can't be determined. The error has the reason.
        case couldNotComplete = 1
        /// The user denied the permission.
        case denied = 2
        /// The user granted the permission.
        case granted = 3
    }

    /// Called with the status or the error.
    public typealias ApplicationPermissionBlock =
        @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void

    // MARK: Leave

    /// Determines if the user is discoverable by name.
    /// - Returns: the status of the permission.
    /// - Throws: `CKError.notAuthenticated` if no user is signed in, or another error of an operation.
    public func applicationPermissionStatus(
        for applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        try await publicCloudDatabase.result { self.startPermission(UsersDiscoverability(), $0) }
    }

    /// Determines if the user is discoverable by name, and calls `completionHandler` with the status or the
    /// error.
    @available(*, deprecated)
    @preconcurrency
    public func status(
        forApplicationPermission applicationPermission: ApplicationPermissions,
        completionHandler: @escaping ApplicationPermissionBlock
    ) {
        startPermission(UsersDiscoverability()) { completionHandler($0.value ?? .couldNotComplete, $0.error) }
    }

    /// Makes the user discoverable by name. No sheet asks the user for permission: on Linux the app must do
    /// that.
    /// - Throws: `CKError.notAuthenticated` if no user is signed in, or another error of an operation.
    @discardableResult
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus {
        try await publicCloudDatabase.result {
            self.startPermission(UsersDiscoverability(discoverable: true), $0)
        }
    }

    /// Makes the user discoverable by name, and calls `completionHandler` with the new status or the error.
    @available(*, deprecated)
    @preconcurrency
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions,
        completionHandler: @escaping ApplicationPermissionBlock
    ) {
        startPermission(UsersDiscoverability(discoverable: true)) {
            completionHandler($0.value ?? .couldNotComplete, $0.error)
        }
    }

    @discardableResult
    private func startPermission(
        _ message: UsersDiscoverability,
        _ completion: @escaping @Sendable (Result<ApplicationPermissionStatus, any Error>) -> Void
    ) -> CKOperation {
        let operation = ExchangeOperation(resultBlock: completion) { address in
            SingleRequestExchange(
                "users/discoverability", message, address: address.ofUsers, answer: UsersDiscoverability.self
            ) { response throws(CKError) in
                response.discoverable == true ? .granted : .denied
            }
        }
        add(operation)
        return operation
    }

    // MARK: User identities

    /// Returns the user with this address, if they let others find them.
    public func userIdentity(forEmailAddress emailAddress: String) async throws -> CKUserIdentity? {
        try await userIdentity(CKUserIdentityLookupInfo(emailAddress: emailAddress))
    }

    /// Returns nil, because the service has no telephone numbers.
    /// - Note: Inert: the service has no telephone numbers, so no user is found.
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? {
        try await userIdentity(CKUserIdentityLookupInfo(phoneNumber: phoneNumber))
    }

    /// Returns the user with this record, if they let others find them.
    public func userIdentity(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKUserIdentity? {
        try await userIdentity(CKUserIdentityLookupInfo(userRecordID: userRecordID))
    }

    /// Returns the users with these addresses that let others find them.
    public func userIdentities(forEmailAddresses emails: [String]) async throws -> [String: CKUserIdentity] {
        try await userIdentities(CKUserIdentityLookupInfo.lookupInfos(withEmails: emails)) { $0.emailAddress }
    }

    /// Returns no users, because the service has no telephone numbers.
    /// - Note: Inert: the service has no telephone numbers, so no user is found.
    public func userIdentities(forPhoneNumbers numbers: [String]) async throws -> [String: CKUserIdentity] {
        try await userIdentities(CKUserIdentityLookupInfo.lookupInfos(withPhoneNumbers: numbers)) {
            $0.phoneNumber
        }
    }

    /// Returns the users with these records that let others find them.
    public func userIdentities(
        forUserRecordIDs recordIDs: [CKRecord.ID]
    ) async throws -> [CKRecord.ID: CKUserIdentity] {
        try await userIdentities(CKUserIdentityLookupInfo.lookupInfos(with: recordIDs)) { $0.userRecordID }
    }

    /// Returns all users that are discoverable by everyone. Apple's framework searches the device's address book
    /// instead.
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] {
        try await publicCloudDatabase.result { self.startDiscoverAll($0) }
    }

    /// All users that are discoverable by everyone.
    @available(*, deprecated)
    @preconcurrency
    public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        _ = startDiscoverAll { completionHandler($0.value, $0.error) }
    }

    /// Looks up the user with this address, and calls `completionHandler` with the identity or the error.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress emailAddress: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(CKUserIdentityLookupInfo(emailAddress: emailAddress), completionHandler)
    }

    /// Looks up the user with this telephone number, and calls `completionHandler` with the identity or the
    /// error.
    /// - Note: Inert: the service has no telephone numbers, so no user is found.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(CKUserIdentityLookupInfo(phoneNumber: phoneNumber), completionHandler)
    }

    /// Looks up the user with this record, and calls `completionHandler` with the identity or the error.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        discover(CKUserIdentityLookupInfo(userRecordID: userRecordID), completionHandler)
    }

    /// Looks up the users with these addresses, and calls `completionHandler` with the identities or the error.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentities(
        forEmailAddresses emails: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        _ = startDiscover(CKUserIdentityLookupInfo.lookupInfos(withEmails: emails)) { result in
            completionHandler(result.map { Self.sorted($0) { $0.emailAddress } })
        }
    }

    /// Looks up the users with these telephone numbers, and calls `completionHandler` with the identities or
    /// the error.
    /// - Note: Inert: the service has no telephone numbers, so no user is found.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentities(
        forPhoneNumbers numbers: [String],
        completionHandler: @escaping @Sendable (Result<[String: CKUserIdentity], any Error>) -> Void
    ) {
        _ = startDiscover(CKUserIdentityLookupInfo.lookupInfos(withPhoneNumbers: numbers)) { result in
            completionHandler(result.map { Self.sorted($0) { $0.phoneNumber } })
        }
    }

    /// Looks up the users with these records, and calls `completionHandler` with the identities or the error.
    @available(*, deprecated)
    @preconcurrency
    public func discoverUserIdentities(
        forUserRecordIDs recordIDs: [CKRecord.ID],
        completionHandler: @escaping @Sendable (Result<[CKRecord.ID: CKUserIdentity], any Error>) -> Void
    ) {
        _ = startDiscover(CKUserIdentityLookupInfo.lookupInfos(with: recordIDs)) { result in
            completionHandler(result.map { Self.sorted($0) { $0.userRecordID } })
        }
    }

    private func discover(
        _ info: CKUserIdentityLookupInfo,
        _ completion: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        _ = startDiscover([info]) { completion($0.value?.first, $0.error) }
    }

    private func userIdentity(_ info: CKUserIdentityLookupInfo) async throws -> CKUserIdentity? {
        try await publicCloudDatabase.result { self.startDiscover([info], $0) }.first
    }

    private func userIdentities<Key: Hashable & Sendable>(
        _ infos: [CKUserIdentityLookupInfo], by key: @Sendable (CKUserIdentityLookupInfo) -> Key?
    ) async throws -> [Key: CKUserIdentity] {
        Self.sorted(try await publicCloudDatabase.result { self.startDiscover(infos, $0) }, by: key)
    }

    private static func sorted<Key: Hashable>(
        _ found: [CKUserIdentity], by key: (CKUserIdentityLookupInfo) -> Key?
    ) -> [Key: CKUserIdentity] {
        found.reduce(into: [:]) { identities, identity in
            if let key = identity.lookupInfo.flatMap(key) { identities[key] = identity }
        }
    }

    private func startDiscover(
        _ infos: [CKUserIdentityLookupInfo],
        _ completion: @escaping @Sendable (Result<[CKUserIdentity], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: infos)
        let found = Lock<[CKUserIdentity]>([])
        operation.userIdentityDiscoveredBlock = { identity, _ in found.withLock { $0.append(identity) } }
        operation.discoverUserIdentitiesResultBlock = { completion($0.map { found.withLock { $0 } }) }
        add(operation)
        return operation
    }

    private func startDiscoverAll(
        _ completion: @escaping @Sendable (Result<[CKUserIdentity], any Error>) -> Void
    ) -> CKOperation {
        let operation = CKDiscoverAllUserIdentitiesOperation()
        let found = Lock<[CKUserIdentity]>([])
        operation.userIdentityDiscoveredBlock = { identity in found.withLock { $0.append(identity) } }
        operation.discoverAllUserIdentitiesResultBlock = { completion($0.map { found.withLock { $0 } }) }
        add(operation)
        return operation
    }
}
