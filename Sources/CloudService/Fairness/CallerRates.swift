import CloudWire
import System

/// Counts the requests of each caller, and assigns each request to a queue. Kept in memory only.
final class CallerRates: Sendable {
    private let clock: any TimeSource
    private let rates: Lock<RateKeeper>
    private let knownCallers = Lock(KnownCallers())

    init(_ rates: ServiceRates, clock: any TimeSource) {
        self.clock = clock
        self.rates = Lock(RateKeeper(rates))
    }

    /// Returns the owner of the queue for a request that isn't parsed yet.
    func owner(of request: WireRequest) -> String {
        let token = request.queryItem(WireHeader.webAuthTokenItem)
        let peer = request.peer.map(RateKeeper.network)
        return knownCallers.withLock { $0.owner(of: token, peer: peer) }
    }

    /// Returns the owner of the queue for a device's long poll. Without a peer, the server's own queue.
    func owner(ofDevice apnsToken: String, asker: String?) -> String {
        guard let asker else { return "courier" }
        return knownCallers.withLock { $0.owner(of: apnsToken, peer: RateKeeper.network(of: asker)) }
    }

    /// Counts a request, and rejects it if it exceeds the caller's rate. A header has the remaining requests.
    func charge(_ request: WireRequest, _ authentication: inout RequestAuthentication) throws {
        let user = authentication.user?.userRecordName
        let token = request.queryItem(WireHeader.webAuthTokenItem)
        guard let taken = take(user, at: request.peer, showing: token) else { return }
        let answer = taken.answer
        authentication.additions.headers += [
            ("RateLimit-Limit", "\(answer.limit)"), ("RateLimit-Remaining", "\(answer.remaining)"),
            ("RateLimit-Reset", "\(answer.seconds)"),
        ]
        try check(taken)
    }

    /// Counts a request outside the protocol.
    func charge(_ user: String?, at peer: String, showing token: String) throws {
        if let taken = take(user, at: peer, showing: token) { try check(taken) }
    }

    /// Charges a response's bytes to its user.
    func charge(_ user: String?, answerBytes: Int) {
        guard let user, answerBytes > ServiceRates.answerBytesOfARequest else { return }
        let now = clock.nowMilliseconds()
        rates.withLock { $0.charge(user: user, answerBytes: answerBytes, at: now) }
    }

    private typealias Taken = (kind: RateKeeper.Kind, answer: RateBuckets.Answer)

    private func take(_ user: String?, at peer: String?, showing token: String?) -> Taken? {
        if let user, let token { knownCallers.withLock { $0.learn(token, of: user) } }
        let now = clock.nowMilliseconds()
        return rates.withLock { $0.take(user: user, peer: peer, at: now) }
    }

    private func check(_ taken: Taken) throws {
        guard !taken.answer.isTaken else { return }
        let seconds = Double(max(1, taken.answer.seconds))
        switch taken.kind {
        case .user: throw ServiceError.throttled("you have sent too many requests", seconds)
        case .address:
            throw ServiceError.tooManyOfAddress(seconds)
        case .container:
            throw ServiceError.tryAgainLater(
                "too many requests came for the container", retryAfterSeconds: seconds)
        }
    }
}

extension ServiceError {
    static func tooManyOfAddress(_ seconds: Double) -> WireError {
        throttled("too many requests came from your address without a user", seconds)
    }

    fileprivate static func throttled(_ reason: String, _ seconds: Double) -> WireError {
        WireError(.throttled, reason: reason, retryAfterSeconds: seconds, ckErrorCode: 7)
    }
}
