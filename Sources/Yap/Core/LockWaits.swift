import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Names a thread.
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

/// Which thread holds a lock.
final class LockOwner: Sendable {
    private let holder = Lock<ThreadID?>(nil)
    /// What the lock protects, for messages.
    let name: String

    init(name: String) {
        self.name = name
    }

    /// The thread; nil if no thread holds the lock.
    var thread: ThreadID? {
        get { holder.withLock { $0 } }
        set { holder.withLock { $0 = newValue } }
    }
}

/// Which thread waits for which lock, in all databases of the process, so that a wait that would never end is refused.
///
/// The last thread of a circle to wait finds it: it sees the others here, and they don't move meanwhile.
enum LockWaits {
    private static let waits = Lock<[ThreadID: LockOwner]>([:])

    /// Notes that this thread is about to wait until a lock is released.
    ///
    /// - Throws: `YapDatabaseError` of code `deadlock` if the thread that holds the lock waits, itself or through
    ///   others, for one that this thread holds. Then nothing is noted.
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

    /// Notes that a thread waits no longer.
    static func end(_ thread: ThreadID) {
        waits.withLock { $0[thread] = nil }
    }

    /// Number of threads that wait, for tests.
    static var count: Int { waits.withLock { $0.count } }

    private static func leads(_ owner: LockOwner, to thread: ThreadID, _ waits: [ThreadID: LockOwner]) -> Bool
    {
        var next = owner
        // A way without a circle has no more steps than threads wait.
        for _ in 0...waits.count {
            guard let holder = next.thread else { return false }
            if holder == thread { return true }
            guard let following = waits[holder] else { return false }
            next = following
        }
        return false
    }
}
