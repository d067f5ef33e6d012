import System

/// Lets a thread wait until it is woken, or until some time has passed.
final class Alarm: @unchecked Sendable {
    // Sendable because `isRung` is touched only between lock and unlock of `mutex`.
    private let mutex = Mutex()
    private let condition = Condition()
    private var isRung = false

    /// Ends the present wait, or the next.
    func ring() {
        mutex.lock(for: Alarm.self)
        isRung = true
        condition.signal()
        mutex.unlock()
    }

    /// Waits until `ring`, for some milliseconds or, with nil, without an end. Returns whether it was rung.
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
