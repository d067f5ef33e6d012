import CloudWire
import Seams

extension CloudService {
    /// In whose line a request waits that nobody has looked at yet.
    func owner(of request: WireRequest) -> String {
        let token = request.queryItem(WireHeader.webAuthTokenItem)
        let peer = request.peer.map(RateKeeper.network)
        return knownCallers.withLock { $0.owner(of: token, peer: peer) }
    }

    /// Counts a request, and refuses it when too many came. What is left, a header says.
    func charge(_ request: WireRequest, _ admission: inout Admission) throws {
        let user = admission.user?.userRecordName
        if let user, let token = request.queryItem(WireHeader.webAuthTokenItem) {
            knownCallers.withLock { $0.learn(token, of: user) }
        }
        let now = clock.nowMilliseconds()
        guard let taken = rates.withLock({ $0.take(user: user, peer: request.peer, at: now) }) else { return }
        let answer = taken.answer
        admission.additions.headers += [
            ("RateLimit-Limit", "\(answer.limit)"), ("RateLimit-Remaining", "\(answer.remaining)"),
            ("RateLimit-Reset", "\(answer.seconds)"),
        ]
        guard !answer.isTaken else { return }
        let seconds = Double(max(1, answer.seconds))
        switch taken.kind {
        case .user: throw ServiceError.throttled("you have sent too many requests", seconds)
        case .address:
            throw ServiceError.throttled("too many requests came from your address without a user", seconds)
        case .container:
            throw ServiceError.tryAgainLater(
                "too many requests came for the container", retryAfterSeconds: seconds)
        }
    }
}

extension ServiceError {
    fileprivate static func throttled(_ reason: String, _ seconds: Double) -> WireError {
        WireError(.throttled, reason: reason, retryAfterSeconds: seconds, ckErrorCode: 7)
    }
}
