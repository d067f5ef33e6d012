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
    let store: any CloudStore
    let clock: any TimeSource
    let random: any RandomSource
    let groupLimits: GroupLimits
    let container: Container?
    let waiting = Lock(WaitingRequests())
    private let accounts: any ServiceAccounts
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
    ///   - accounts: who may ask. With nil it is a list in memory of `users` and of whom `addUser` adds.
    ///   - users: who signs in with which web auth token, when there are no `accounts`.
    ///   - limits: what one request may ask for.
    ///   - groupLimits: how much one transaction takes in.
    public init(
        store: any CloudStore, clock: any TimeSource, random: any RandomSource, container: Container? = nil,
        accounts: (any ServiceAccounts)? = nil, users: [String: ServiceUser] = [:],
        limits: ServiceLimits = ServiceLimits(), groupLimits: GroupLimits = GroupLimits()
    ) {
        precondition(accounts == nil || users.isEmpty, "users belong into the accounts")
        self.store = store
        self.clock = clock
        self.random = random
        self.container = container
        ownAccounts = ServiceAccountList(users: users)
        self.accounts = accounts ?? ownAccounts
        self.limits = limits
        self.groupLimits = groupLimits
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

    /// Reads the request as far as that goes without the store.
    func prepare(_ request: WireRequest) -> PreparedRequest {
        let work: ServiceWork
        do {
            work = try self.work(for: request)
        } catch {
            work = .answer(.error(ServiceFailure.wireError(error)))
        }
        return PreparedRequest(work: work, bytes: request.body.count, wantsExtras: request.wantsExtras)
    }

    private func work(for request: WireRequest) throws -> ServiceWork {
        guard request.body.count <= limits.bodyBytesMax else {
            throw ServiceError.limitExceeded(
                "the request has \(request.body.count) bytes; \(limits.bodyBytesMax) are allowed")
        }
        let route = try ServiceRoute(request)
        let asked = Container(identifier: route.container, environment: route.environment)
        guard container == nil || container == asked else {
            throw ServiceError.noSuchContainer(route.container, environment: route.environment)
        }
        guard try accounts.admits(apiToken: request.queryItem(WireHeader.apiTokenItem), container: asked)
        else {
            throw ServiceError.apiTokenRefused
        }
        let caller = ServiceCaller(
            user: try user(of: request, in: asked), scope: route.scope, request: request)
        guard caller.user != nil || route.endpoint.isOpenToAnyone(in: route.scope) else {
            throw ServiceError.authenticationRequired
        }
        let body = request.body.isEmpty ? Array("{}".utf8) : request.body
        switch route.endpoint {
        case .recordsModify: return try recordsModify(body, caller)
        case .recordsLookup: return try recordsLookup(body, caller)
        case .recordsQuery: throw ServiceError.badRequest("queries are not served yet")
        case .changesDatabase: return try changesDatabase(body, caller)
        case .changesZone: return try changesZone(body, caller)
        case .zonesList: return try zonesList(body, caller)
        case .zonesLookup: return try zonesLookup(body, caller)
        case .zonesModify: return try zonesModify(body, caller)
        case .usersCaller: return try usersCaller(caller)
        }
    }

    private func user(of request: WireRequest, in container: Container) throws -> ServiceUser? {
        guard let token = request.queryItem(WireHeader.webAuthTokenItem) else { return nil }
        guard let user = try accounts.user(webAuthToken: token, container: container) else {
            throw ServiceError.authenticationFailed
        }
        return user
    }

    private func usersCaller(_ caller: ServiceCaller) throws -> ServiceWork {
        guard let user = caller.user else { throw ServiceError.authenticationRequired }
        let hasName = user.givenName != nil || user.familyName != nil
        let name = UsersCallerResponse.NameComponents(givenName: user.givenName, familyName: user.familyName)
        return .answer(
            .message(
                UsersCallerResponse(userRecordName: user.userRecordName, nameComponents: hasName ? name : nil)
            ))
    }
}
