import System

/// A flag that a thread can wait for, with or without a timeout.
final class Alarm: @unchecked Sendable {
    // Sendable because `isRung` is touched only between lock and unlock of `mutex`.
    private let mutex = Mutex()
    private let condition = Condition()
    private var isRung = false

    /// Ends the current wait, or the next one.
    func ring() {
        mutex.lock(for: Alarm.self)
        isRung = true
        condition.signal()
        mutex.unlock()
    }

    /// Waits until `ring` is called, or for `milliseconds`. Nil waits without a limit. Returns true if `ring`
    /// was called.
    @discardableResult
    func wait(milliseconds: Int64?) -> Bool {
        let end = milliseconds.map { Condition.Deadline(afterMilliseconds: $0) }
        mutex.lock(for: Alarm.self)
        defer { mutex.unlock() }
        while !isRung, condition.wait(mutex, until: end) {}
        defer { isRung = false }
        return isRung
    }
}
