import CloudWire
import System

/// Limits the requests of an address for resources outside a service, such as the sign-in page, to the rate
/// of unauthenticated requests.
package final class AddressRate: Sendable {
    private let buckets: Lock<RateBuckets?>

    /// Starts with full buckets.
    package init(_ rates: ServiceRates) {
        buckets = Lock(rates.address.map { RateBuckets($0) })
    }

    /// Counts a request. Returns an error if the rate is exceeded.
    package func refusal(of peer: String, atMilliseconds now: Int64) -> WireError? {
        let answer = buckets.withLock { $0?.take(RateKeeper.network(of: peer), at: now) }
        guard let answer, !answer.isTaken else { return nil }
        return ServiceError.tooManyOfAddress(Double(max(1, answer.seconds)))
    }
}
