import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The signals that ask a server to end: held back from every thread, and taken by one that waits for them.
struct StopSignals: Sendable {
    static let numbers = [SIGTERM, SIGINT]

    /// Holds the signals back, on this thread and on those that it starts from now on.
    init() {
        var set = Self.set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits until one comes, and returns it.
    @discardableResult
    func wait() -> Int32 {
        var set = Self.set
        var number: Int32 = 0
        while sigwait(&set, &number) != 0 {}
        return number
    }

    /// Whether one has come that nobody has taken.
    var isPending: Bool {
        var pending = sigset_t()
        sigemptyset(&pending)
        return sigpending(&pending) == 0 && Self.numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// The next one ends the process on the spot.
    func endAtOnceAtTheNext() {
        DispatchQueue(label: "yap.signals").async { _exit(128 + wait()) }
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers { sigaddset(&set, number) }
        return set
    }
}
