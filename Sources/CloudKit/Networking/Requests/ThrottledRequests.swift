internal import CloudWire
internal import System

/// The kinds of requests that the server has throttled, each with the time from which it may be sent again.
///
/// A response that says "try again later" delays all requests of its kind, of all operations. Apple's framework does
/// the same, and reports "Operation throttled by previous server http 503 reply". Other kinds of requests are sent.
final class ThrottledRequests: Sendable {
    /// Maximum seconds for which a kind is throttled. Longer times of a server are shortened to it.
    static let secondsMax = 86_400.0
    /// Maximum kinds in the table. The one with the earliest end is removed first.
    static let countMax = 256

    /// The table of this process. It outlives the containers, because many apps make a container for each operation.
    private static let shared = Lock<[String: Int64]>([:])

    /// The end of each kind's delay, in milliseconds of the timers' clock.
    private let untilMilliseconds: Lock<[String: Int64]>
    /// Prefix of each kind in the table.
    private let name: String

    /// Makes an empty table.
    convenience init() {
        self.init(Lock([:]), name: "")
    }

    private init(_ untilMilliseconds: Lock<[String: Int64]>, name: String) {
        self.untilMilliseconds = untilMilliseconds
        self.name = name
    }

    /// Returns the part of this process's table that belongs to `name`.
    static func ofAll(_ name: String) -> ThrottledRequests {
        ThrottledRequests(shared, name: name + "\n")
    }

    /// Throttles requests of `kind` for `seconds`.
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

    /// Seconds until requests of `kind` may be sent; nil if they may be sent now.
    func secondsLeft(_ kind: String, nowMilliseconds: Int64) -> Double? {
        untilMilliseconds.withLock { kinds in
            // The table is mostly empty, and then no key has to be built.
            guard !kinds.isEmpty, let until = kinds[name + kind] else { return nil }
            guard until > nowMilliseconds else {
                kinds[name + kind] = nil
                return nil
            }
            return Double(until - nowMilliseconds) / 1000
        }
    }
}

/// The throttling of one request: its kind, for each user apart, in the connection's table.
struct RequestThrottle: Sendable {
    /// Nil for a request that is never throttled.
    let kind: String?
    let connection: CloudConnection

    /// - Throws: `CKError.requestRateLimited` if requests of this kind are throttled for the user.
    func check(_ credential: CloudCredential) throws(CKError) {
        guard let kind, let table = connection.throttled,
            let seconds = table.secondsLeft(
                key(kind, credential), nowMilliseconds: connection.timers.elapsedMilliseconds())
        else { return }
        throw .heldBack(seconds: seconds)
    }

    /// Throttles requests of this kind if the server has named a time.
    func note(_ response: WireResponse, _ credential: CloudCredential) {
        guard let kind, !(200..<300).contains(response.status) else { return }
        let error = ResponseDecoder.refusal(response)
        guard error.asksToWait, let seconds = error.retryAfterSeconds else { return }
        connection.throttled?.hold(
            key(kind, credential), seconds: seconds,
            nowMilliseconds: connection.timers.elapsedMilliseconds())
    }

    private func key(_ kind: String, _ credential: CloudCredential) -> String {
        kind + "#" + (credential.userRecordName ?? "")
    }
}

extension CKError {
    /// True if the server has named a time before which no operation may send such a request again.
    var asksToWait: Bool {
        [.serviceUnavailable, .requestRateLimited].contains(code) && retryAfterSeconds != nil
    }

    /// Returns the error of an operation that isn't sent because its request is throttled.
    static func heldBack(seconds: Double) -> CKError {
        CKError(
            .requestRateLimited,
            """
            Operation throttled by a previous reply of the server. Retry after \(seconds) seconds. (Other operations \
            may be allowed.)
            """, retryAfterSeconds: seconds)
    }
}
