import Seams

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A lock that knows which thread holds it: who takes it twice gets an error, where a plain lock would wait
/// for ever.
final class OwnedLock<Value>: Sendable {
    private let lock: Lock<Value>
    private let owner = Lock<pthread_t?>(nil)

    init(_ value: Value) {
        lock = Lock(value)
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) throws -> Result {
        let thread = pthread_self()
        if owner.withLock({ $0 == thread }) {
            throw YapDatabaseError(.nestedTransaction, "a transaction is open on this thread already")
        }
        return try lock.withLock { value in
            owner.withLock { $0 = thread }
            defer { owner.withLock { $0 = nil } }
            return try body(&value)
        }
    }
}
