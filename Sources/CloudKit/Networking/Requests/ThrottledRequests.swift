internal import System

/// What the server asked a container's operations to wait with.
///
/// An answer that says "try again later" holds back the requests of its kind, of all operations, until then: as Apple's
/// framework does, which says so with "Operation throttled by previous server http 503 reply". Others may go.
final class ThrottledRequests: Sendable {
    /// A server that names a longer time is believed for as long as this, in seconds.
    static let secondsMax = 86_400.0
    /// Kinds of requests that are remembered; beyond that the one that may go first is forgotten.
    static let countMax = 256

    /// What the servers asked this process to wait with. It outlives the containers, because many an app makes one
    /// anew for each operation.
    private static let shared = Lock<[String: Int64]>([:])

    /// The timers' milliseconds from which a kind of request may go again.
    private let untilMilliseconds: Lock<[String: Int64]>
    /// Stands before each kind.
    private let name: String

    /// What one connection has to wait with.
    convenience init() {
        self.init(Lock([:]), name: "")
    }

    private init(_ untilMilliseconds: Lock<[String: Int64]>, name: String) {
        self.untilMilliseconds = untilMilliseconds
        self.name = name
    }

    /// The holds that all requests of this process as `name` share, by the machine's clock.
    static func ofAll(_ name: String) -> ThrottledRequests {
        ThrottledRequests(shared, name: name + "\n")
    }

    /// Remembers that requests of `kind` have to wait.
    func hold(_ kind: String, seconds: Double, nowMilliseconds: Int64) {
        guard seconds > 0 else { return }
        let until = nowMilliseconds + Int64(min(seconds, Self.secondsMax) * 1000)
        untilMilliseconds.withLock { kinds in
            kinds[name + kind] = max(until, kinds[name + kind] ?? until)
            if kinds.count > Self.countMax,
                let first = kinds.min(by: { ($0.value, $0.key) < ($1.value, $1.key) })
            {
                kinds[first.key] = nil
            }
        }
    }

    /// Seconds for which requests of `kind` have to wait still; nil when they may go.
    func secondsLeft(_ kind: String, nowMilliseconds: Int64) -> Double? {
        untilMilliseconds.withLock { kinds in
            // Mostly there are none, and no text has to be put together.
            guard !kinds.isEmpty, let until = kinds[name + kind] else { return nil }
            guard until > nowMilliseconds else {
                kinds[name + kind] = nil
                return nil
            }
            return Double(until - nowMilliseconds) / 1000
        }
    }
}

extension CKError {
    /// Whether the server named a time before which such a request is not to be sent again, by whichever operation.
    var asksToWait: Bool {
        [.serviceUnavailable, .requestRateLimited].contains(code) && retryAfterSeconds != nil
    }

    /// The error of an operation that isn't sent because the server asked to wait.
    static func heldBack(seconds: Double) -> CKError {
        CKError(
            .requestRateLimited,
            """
            Operation throttled by a previous reply of the server. Retry after \(seconds) seconds. (Other operations \
            may be allowed.)
            """, retryAfterSeconds: seconds)
    }
}
