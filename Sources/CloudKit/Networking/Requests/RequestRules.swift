import Foundation

/// Time limits of a request, and rules for its retries.
package struct RequestRules: Sendable {
    /// Maximum seconds of an attempt without any byte sent or received.
    package var timeoutSeconds: Double
    /// The end of the request with all its attempts, in milliseconds of the timers' clock; nil for none.
    package var deadlineMilliseconds: Int64?
    /// True if the request is sent again after a network error, after a pause, until the deadline.
    package var repeatsAfterNetworkErrors: Bool
    /// The user of the request: it isn't sent with another user's token. Nil takes the user of the first attempt.
    package var userRecordName: String?

    /// Seconds before the first retry. Each pause is twice as long as the one before.
    static let pauseSecondsMin = 1.0
    /// Maximum seconds between two attempts.
    static let pauseSecondsMax = 60.0

    /// Makes rules.
    package init(
        timeoutSeconds: Double = 60, deadlineMilliseconds: Int64? = nil,
        repeatsAfterNetworkErrors: Bool = false, userRecordName: String? = nil
    ) {
        self.userRecordName = userRecordName
        self.timeoutSeconds = timeoutSeconds
        self.deadlineMilliseconds = deadlineMilliseconds
        self.repeatsAfterNetworkErrors = repeatsAfterNetworkErrors
    }

    /// Returns the timeouts of an attempt that begins now, or nil if the deadline has passed.
    func timeouts(nowMilliseconds: Int64) -> RequestTimeouts? {
        let idle = max(0.001, min(timeoutSeconds, 1e9))
        guard let deadlineMilliseconds else { return RequestTimeouts(idleSeconds: idle, totalSeconds: 0) }
        let left = deadlineMilliseconds - nowMilliseconds
        return left > 0 ? RequestTimeouts(idleSeconds: idle, totalSeconds: Double(left) / 1000) : nil
    }

    /// Milliseconds of the pause after a failed attempt: a random time between half of the full pause and all of it, so
    /// that devices that failed together don't retry together.
    /// - Parameters:
    ///   - number: the attempt, counted from 1.
    ///   - unitInterval: a random number from 0 to 1.
    package static func pauseMilliseconds(afterAttempt number: Int, unitInterval: Double) -> Int64 {
        let doublings = Double(min(number - 1, 30))
        let full = min(pauseSecondsMax, pauseSecondsMin * exp2(doublings))
        return Int64((full * (0.5 + 0.5 * unitInterval) * 1000).rounded())
    }
}
