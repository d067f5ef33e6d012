import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Identifies a thread.
struct ThreadID: Hashable, Sendable {
    private let value: UInt

    /// The calling thread.
    static var current: ThreadID {
        #if canImport(Glibc)
            ThreadID(value: pthread_self())
        #else
            ThreadID(value: UInt(bitPattern: pthread_self()))
        #endif
    }
}

/// The thread that holds a lock.
final class LockOwner: Sendable {
    private let holder = Lock<ThreadID?>(nil)
    /// Name of the protected value, for messages.
    let name: String

    init(name: String) {
        self.name = name
    }

    /// The thread, or nil if no thread holds the lock.
    var thread: ThreadID? {
        get { holder.withLock { $0 } }
        set { holder.withLock { $0 = newValue } }
    }
}

/// Records which thread waits for which lock, in all databases of the process, to detect deadlocks.
///
/// The last thread of a cycle that starts to wait detects the deadlock: the waits of the other threads are
/// recorded here, and can't end meanwhile.
enum LockWaits {
    private static let waits = Lock<[ThreadID: LockOwner]>([:])

    /// Records that this thread is about to wait for a lock.
    ///
    /// - Throws: `YapDatabaseError` with `deadlock` if the thread that holds the lock waits, directly or through
    ///   others, for a lock that this thread holds. Nothing is recorded then.
    static func begin(for owner: LockOwner) throws {
        let thread = ThreadID.current
        let isEndless = waits.withLock { waits in
            if leads(owner, to: thread, waits) { return true }
            waits[thread] = owner
            return false
        }
        guard isEndless else { return }
        throw YapDatabaseError(
            .deadlock, "another thread uses \(owner.name), and waits for a transaction of this thread")
    }

    /// Records that a thread no longer waits.
    static func end(_ thread: ThreadID) {
        waits.withLock { $0[thread] = nil }
    }

    /// Number of waiting threads, for tests.
    static var count: Int { waits.withLock { $0.count } }

    private static func leads(_ owner: LockOwner, to thread: ThreadID, _ waits: [ThreadID: LockOwner]) -> Bool
    {
        var next = owner
        // A path without a cycle has no more steps than threads wait.
        for _ in 0...waits.count {
            guard let holder = next.thread else { return false }
            if holder == thread { return true }
            guard let following = waits[holder] else { return false }
            next = following
        }
        return false
    }
}
