import System

/// A lock that may be held while code of the app runs. A thread that would wait forever receives an error: if
/// it takes the lock twice, or if it is the last of several threads that wait for each other's locks.
final class OwnedLock<Value>: @unchecked Sendable {
    // Sendable because `value` is used only by the thread in `owner`, and the rest while `mutex` is held.
    private let mutex = Mutex()
    private let condition = Condition()
    private var waitingCount = 0
    private var isHeld = false
    private var value: Value
    private let owner: LockOwner

    /// - Parameter name: Name of the protected value, for messages.
    init(_ value: Value, name: String) {
        owner = LockOwner(name: name)
        self.value = value
    }

    /// True if this thread holds the lock.
    var isMine: Bool { owner.thread == ThreadID.current }

    /// Records that this thread is about to wait for work of the thread that holds the lock or takes it next.
    /// Call `LockWaits.end` after the wait.
    ///
    /// - Throws: The errors of `withLock`.
    func beginWaiting() throws { try LockWaits.begin(for: owner) }

    /// Runs `body` with the value while no other thread holds the lock.
    ///
    /// - Throws: The error of `body`; `YapDatabaseError`: `nestedTransaction` if this thread holds the lock,
    ///   `deadlock` if the thread that holds it waits for this one.
    func withLock<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        try lock()
        defer { unlock() }
        return try body(&value)
    }

    /// Runs `body` with the value if no thread, including this one, holds the lock. Otherwise returns nil.
    func withLockIfFree<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result? {
        guard lockIfFree() else { return nil }
        defer { unlock() }
        return try body(&value)
    }

    private func lockIfFree() -> Bool {
        mutex.lock(for: Value.self)
        defer { mutex.unlock() }
        if isHeld { return false }
        isHeld = true
        owner.thread = ThreadID.current
        return true
    }

    private func lock() throws {
        mutex.lock(for: Value.self)
        defer { mutex.unlock() }
        let thread = ThreadID.current
        if isHeld {
            if owner.thread == thread {
                throw YapDatabaseError(
                    .nestedTransaction, "this thread uses \(owner.name) in a transaction already")
            }
            try LockWaits.begin(for: owner)
            waitingCount += 1
            while isHeld { condition.wait(mutex) }
            waitingCount -= 1
            LockWaits.end(thread)
        }
        isHeld = true
        owner.thread = thread
    }

    private func unlock() {
        mutex.lock(for: Value.self)
        defer { mutex.unlock() }
        isHeld = false
        owner.thread = nil
        if waitingCount > 0 { condition.signal() }
    }
}
