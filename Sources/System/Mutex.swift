#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A mutex that ends the process with a message if a thread locks it twice.
///
/// With a plain mutex, that thread would wait forever, and then each thread that needs the mutex.
/// `docs/design/PARTS.md` has the cost of an error-checking mutex.
package struct Mutex: ~Copyable {
    /// Memory of the system's mutex. It never moves.
    let pointer: UnsafeMutablePointer<pthread_mutex_t>

    /// Makes an unlocked mutex.
    package init() {
        pointer = .allocate(capacity: 1)
        var attributes = pthread_mutexattr_t()
        pthread_mutexattr_init(&attributes)
        pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ERRORCHECK))
        let code = pthread_mutex_init(pointer, &attributes)
        pthread_mutexattr_destroy(&attributes)
        precondition(code == 0, "pthread_mutex_init failed with \(code)")
    }

    deinit {
        pthread_mutex_destroy(pointer)
        pointer.deallocate()
    }

    /// Locks the mutex. Waits while another thread holds it.
    ///
    /// - Parameter state: Type of the protected value, for the message.
    package borrowing func lock<State: ~Copyable>(for state: State.Type) {
        let code = pthread_mutex_lock(pointer)
        if code != 0 { failToLock(state, code) }
    }

    /// Unlocks the mutex. This thread must hold it.
    package borrowing func unlock() {
        let code = pthread_mutex_unlock(pointer)
        precondition(code == 0, "pthread_mutex_unlock failed with \(code)")
    }
}

/// Writes the message to the standard error, because a release build omits the message of `precondition`.
@inline(never)
private func failToLock<State: ~Copyable>(_ state: State.Type, _ code: Int32) -> Never {
    let again =
        "The thread that holds this lock locked it again, and would wait forever. "
        + "Release and call nothing inside a lock."
    let reason = code == EDEADLK ? again : "pthread_mutex_lock failed with \(code)."
    let message = "Lock of \(String(reflecting: state)): \(reason)\n"
    message.utf8CString.withUnsafeBytes { _ = write(2, $0.baseAddress, $0.count - 1) }
    abort()
}
