internal import CloudWire
import Foundation
internal import System

/// Finds users who have let others find their name.
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// By what the users are looked up.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

    /// Called for each user who was found.
    @preconcurrency public var userIdentityDiscoveredBlock:
        (@Sendable (CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
    /// Called last. A user that wasn't found is no failure.
    @preconcurrency public var discoverUserIdentitiesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `discoverUserIdentitiesResultBlock`, not called when that is set.
    @available(*, deprecated, renamed: "discoverUserIdentitiesResultBlock")
    @preconcurrency public var discoverUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderDiscoverUserIdentitiesCompletionBlock }
        set { olderDiscoverUserIdentitiesCompletionBlock = newValue }
    }
    var olderDiscoverUserIdentitiesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an operation that finds nobody yet.
    public override init() {
        super.init()
    }

    /// Makes an operation that looks up by `userIdentityLookupInfos`.
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

/// Finds all users who want to be found by everybody. Apple's looks into the device's address book; there is none here.
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// Called for each user who was found.
    @preconcurrency public var userIdentityDiscoveredBlock: (@Sendable (CKUserIdentity) -> Void)?
    /// Called last.
    @preconcurrency public var discoverAllUserIdentitiesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `discoverAllUserIdentitiesResultBlock`, not called when that is set.
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
    /// Users are asked for at the public database, whichever an operation is on.
    var ofUsers: RequestAddress {
        var address = self
        address.scope = .public
        return address
    }
}
