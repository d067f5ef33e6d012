import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The signals that stop a server: blocked on every thread, and received by the thread that waits for them.
struct StopSignals: Sendable {
    static let numbers = [SIGTERM, SIGINT]

    private let taken: [Int32]

    /// Blocks the signals on this thread and on threads that it starts later.
    ///
    /// - Parameter takesHangUp: SIGHUP has another meaning than stopping, and is blocked too.
    init(takesHangUp: Bool = false) {
        taken = Self.numbers + (takesHangUp ? [SIGHUP] : [])
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits for a signal, and returns it.
    @discardableResult
    func wait() -> Int32 {
        var set = set
        var number: Int32 = 0
        while sigwait(&set, &number) != 0 {}
        return number
    }

    /// True if a signal is pending.
    var isPending: Bool {
        var pending = sigset_t()
        sigemptyset(&pending)
        return sigpending(&pending) == 0 && Self.numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Makes the next signal end the process immediately.
    func endAtOnceAtTheNext() {
        DispatchQueue(label: "yap.signals").async {
            var number = wait()
            while !Self.numbers.contains(number) { number = wait() }
            _exit(128 + number)
        }
    }

    private var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in taken { sigaddset(&set, number) }
        return set
    }
}
