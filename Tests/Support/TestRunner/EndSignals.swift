import Glibc

/// Signals that the runner waits for instead of being interrupted: the end of a child, and requests to end the run.
enum EndSignals {
    private static var all: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGCHLD, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        return signals
    }

    static func block() {
        var signals = all
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Waits until a child has ended or `seconds` have passed. Returns true if the run is to end.
    static func wait(seconds: Double) -> Bool {
        var signals = all
        var time = timespec()
        time.tv_sec = Int(seconds)
        time.tv_nsec = Int(seconds.truncatingRemainder(dividingBy: 1) * 1e9)
        let number = sigtimedwait(&signals, nil, &time)
        return number > 0 && number != SIGCHLD
    }
}
