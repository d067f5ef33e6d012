package import CloudWire
import System

/// How often an address may ask a server for what belongs to no service, as its sign-in page: as often as those who
/// haven't signed in may ask a service.
package final class AddressRate: Sendable {
    private let buckets: Lock<RateBuckets?>

    /// Nobody has asked yet.
    package init(_ rates: ServiceRates) {
        buckets = Lock(rates.address.map { RateBuckets($0) })
    }

    /// Counts a request; what to answer when too many came.
    package func refusal(of peer: String, atMilliseconds now: Int64) -> WireError? {
        let answer = buckets.withLock { $0?.take(RateKeeper.network(of: peer), at: now) }
        guard let answer, !answer.isTaken else { return nil }
        return ServiceError.tooManyOfAddress(Double(max(1, answer.seconds)))
    }
}
