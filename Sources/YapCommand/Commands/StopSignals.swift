import Dispatch

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The signals that ask a server to end: held back from every thread, and taken by one that waits for them.
struct StopSignals: Sendable {
    static let numbers = [SIGTERM, SIGINT]

    private let taken: [Int32]

    /// Holds the signals back, on this thread and on those that it starts from now on.
    ///
    /// - Parameter takesHangUp: SIGHUP asks for something else than to end, and is held back too.
    init(takesHangUp: Bool = false) {
        taken = Self.numbers + (takesHangUp ? [SIGHUP] : [])
        var set = set
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Waits until one comes, and returns it.
    @discardableResult
    func wait() -> Int32 {
        var set = set
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
