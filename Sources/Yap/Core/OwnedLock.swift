import Seams

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock that knows which thread holds it: a thread that takes it twice gets an error, where a plain lock would
/// wait for ever.
final class OwnedLock<Value>: Sendable {
    private let lock: Lock<Value>
    private let owner = Lock<pthread_t?>(nil)

    init(_ value: Value) {
        lock = Lock(value)
    }

    /// Whether this thread holds it.
    var isMine: Bool {
        let thread = pthread_self()
        return owner.withLock { $0 == thread }
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        if isMine {
            throw YapDatabaseError(.nestedTransaction, "a transaction is open on this thread already")
        }
        let thread = pthread_self()
        return try lock.withLock { value in
            owner.withLock { $0 = thread }
            defer { owner.withLock { $0 = nil } }
            return try body(&value)
        }
    }
}
