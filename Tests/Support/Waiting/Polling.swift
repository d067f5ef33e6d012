import Foundation

/// Waits for a state that reports no event: one of the kernel, of another process, or of an object of the product that
/// has only a count. Every other wait of a test is for an event (`WatchedValue`, a semaphore, a stream, a descriptor,
/// a line of a log). This is the only place in the tests that lets time pass; `TidyTests` looks for others.
package enum Polling {
    private static let pauseMilliseconds: Int32 = 1
    private static let secondsMax: TimeInterval = 60

    /// Blocks the thread until a condition holds, for up to a minute.
    ///
    /// - Throws: `TimeoutError`, and what the condition throws.
    package static func waitUntil(_ isReached: () throws -> Bool) throws {
        let deadline = Date(timeIntervalSinceNow: secondsMax)
        while try !isReached() {
            guard Date() < deadline else { throw TimeoutError(description: "not reached in a minute") }
            _ = poll(nil, 0, pauseMilliseconds)
        }
    }

    /// Suspends the task until a condition holds, for up to a minute.
    ///
    /// - Throws: `TimeoutError`, and what the condition throws.
    package static func until(
        isolation: isolated (any Actor)? = #isolation, _ isReached: () async throws -> Bool
    ) async throws {
        let deadline = Date(timeIntervalSinceNow: secondsMax)
        while try await !isReached() {
            guard Date() < deadline else { throw TimeoutError(description: "not reached in a minute") }
            try await Task.sleep(for: .milliseconds(pauseMilliseconds))
        }
    }
}
