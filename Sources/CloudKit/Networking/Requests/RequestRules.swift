import Foundation

/// How long a request may take, and whether it is sent again.
package struct RequestRules: Sendable {
    /// Seconds of one attempt in which nothing comes and nothing goes.
    package var timeoutSeconds: Double
    /// When all of it has to be over, in the timers' milliseconds; nil for never.
    package var deadlineMilliseconds: Int64?
    /// Whether what the network did is no end: after a pause the request is sent again, until the deadline.
    package var repeatsAfterNetworkErrors: Bool
    /// Whose request it is: with another user's token it isn't sent. Nil takes the user of the first attempt.
    package var userRecordName: String?

    /// Seconds before the first repetition; each pause is twice the one before.
    static let pauseSecondsMin = 1.0
    /// Seconds between two attempts at most.
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

    /// The pause after the failure of attempt `number`, which counts from 1: between half of the full pause and the
    /// full one, so that devices which failed together don't come back together.
    package static func pauseMilliseconds(afterAttempt number: Int, unitInterval: Double) -> Int64 {
        let doublings = Double(min(number - 1, 30))
        let full = min(pauseSecondsMax, pauseSecondsMin * exp2(doublings))
        return Int64((full * (0.5 + 0.5 * unitInterval) * 1000).rounded())
    }
}
