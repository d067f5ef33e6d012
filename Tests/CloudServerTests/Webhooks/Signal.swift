import Foundation

/// What a test waits at until something is so, with a deadline.
final class Signal: @unchecked Sendable {
    // Sendable because it holds nothing but the condition, which is.
    private let condition = NSCondition()

    func ring() {
        condition.lock()
        condition.broadcast()
        condition.unlock()
    }

    /// False when it isn't so after half a minute.
    func wait(until isSo: () -> Bool) -> Bool {
        let deadline = Date(timeIntervalSinceNow: 30)
        condition.lock()
        defer { condition.unlock() }
        while !isSo() {
            // Rung without the lock of what is asked for: looked at again now and then.
            if !condition.wait(until: min(deadline, Date(timeIntervalSinceNow: 0.2))), Date() >= deadline {
                return isSo()
            }
        }
        return true
    }
}
