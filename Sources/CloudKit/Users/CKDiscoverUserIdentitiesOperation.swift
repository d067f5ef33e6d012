internal import CloudWire
import Foundation
internal import System

/// Finds users that have let others find their name.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The lookups.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Called for each discovered user.
    @preconcurrency public var userIdentityDiscoveredBlock:
        (@Sendable (CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Called last. A user that isn't found is no error.
    @preconcurrency public var discoverUserIdentitiesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `discoverUserIdentitiesResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "discoverUserIdentitiesResultBlock")
    @preconcurrency public var discoverUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderDiscoverUserIdentitiesCompletionBlock }
        set { olderDiscoverUserIdentitiesCompletionBlock = newValue }
    }
    var olderDiscoverUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an operation without lookups.
    public override init() {
        super.init()
    }

    /// Makes an operation for `userIdentityLookupInfos`.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func execute() {
        let infos = userIdentityLookupInfos
        run { address in
            UserResolvingExchange(
                namesUser: infos.contains { $0.userRecordID?.namesUser ?? false }, address: address.ofUsers
            ) { address in
                address.split(infos) { DiscoverUsersExchange($0 ?? [], address: address) }
            }
        } event: { identity, info in
            self.userIdentityDiscoveredBlock?(identity, info)
        } completion: { result in
            if let block = self.discoverUserIdentitiesResultBlock {
                block(result.map { _ in }.mapError { $0 })
            } else {
                self.olderDiscoverUserIdentitiesCompletionBlock?(result.error)
            }
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            userIdentityDiscoveredBlock.take(), discoverUserIdentitiesResultBlock.take(),
            olderDiscoverUserIdentitiesCompletionBlock.take()
        )
    }
}

/// Finds all users that are discoverable by everyone. Apple's framework searches the device's address book,
/// which doesn't exist here.
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// Called for each discovered user.
    @preconcurrency public var userIdentityDiscoveredBlock: (@Sendable (CKUserIdentity) -> Void)?
    /// Called last.
    @preconcurrency public var discoverAllUserIdentitiesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `discoverAllUserIdentitiesResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "discoverAllUserIdentitiesResultBlock")
    @preconcurrency public var discoverAllUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderDiscoverAllUserIdentitiesCompletionBlock }
        set { olderDiscoverAllUserIdentitiesCompletionBlock = newValue }
    }
    var olderDiscoverAllUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an operation.
    public override init() {
        super.init()
    }

    override func execute() {
        run { address in
            SingleRequestExchange(
                getting: "users/discover", address: address.ofUsers, answer: UsersDiscoverResponse.self
            ) { response throws(CKError) in
                response.users.map { CKUserIdentity($0, lookupInfo: nil) }
            }
        } event: { _ in
        } completion: { result in
            for identity in result.value ?? [] { self.userIdentityDiscoveredBlock?(identity) }
            if let block = self.discoverAllUserIdentitiesResultBlock {
                block(result.map { _ in }.mapError { $0 })
            } else {
                self.olderDiscoverAllUserIdentitiesCompletionBlock?(result.error)
            }
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            userIdentityDiscoveredBlock.take(), discoverAllUserIdentitiesResultBlock.take(),
            olderDiscoverAllUserIdentitiesCompletionBlock.take()
        )
    }
}

extension RequestAddress {
    /// User requests are sent to the public database, regardless of the operation's database.
    var ofUsers: RequestAddress {
        var address = self
        address.scope = .public
        return address
    }
}
