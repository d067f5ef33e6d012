package import System

/// Growing pauses: doubled with each failure in a row, with jitter, so that devices which failed together don't retry
/// together.
package struct BackOff: Sendable {
    package static let firstPauseMilliseconds: Int64 = 1000
    package static let pauseMillisecondsMax: Int64 = 300_000

    package private(set) var failures = 0

    package init() {}

    /// Returns the pause after one more failure. It is never shorter than the time that the server requested.
    package mutating func nextPauseMilliseconds(
        retryAfterSeconds: Double?, random: any RandomSource
    ) -> Int64 {
        let doublings = min(failures, 20)
        failures += 1
        let full = min(Self.firstPauseMilliseconds << Int64(doublings), Self.pauseMillisecondsMax)
        let jittered = full / 2 + Int64(Double(full / 2) * random.nextUnitInterval())
        guard let seconds = retryAfterSeconds, seconds > 0 else { return jittered }
        let asked = Int64((min(seconds, 86_400) * 1000).rounded(.up))
        return asked + Int64(Double(asked) * 0.1 * random.nextUnitInterval())
    }

    package mutating func reset() {
        failures = 0
    }
}
