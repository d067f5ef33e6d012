import CSQLite

/// Waiting for another connection's lock.
extension Connection {
    /// Sets how long a call waits for another connection's lock before it throws an error with `isBusy`.
    ///
    /// SQLite's own wait sleeps for up to 100 ms between two attempts. A connection that writes continuously leaves
    /// the lock free for less than 1 ms, so a second one would wait for seconds on average. This one attempts every
    /// millisecond; after a second, every five milliseconds.
    ///
    /// - Parameter milliseconds: Maximum wait, not counting the attempts themselves. 0 doesn't wait.
    package func setBusyTimeout(milliseconds: Int32) throws {
        guard milliseconds > 0 else { return try check(sqlite3_busy_handler(handle, nil, nil)) }
        let handler: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { timeout, attempts in
            let isYoung = attempts < 1_000
            let waited = isYoung ? Int(attempts) : 1_000 + (Int(attempts) - 1_000) * 5
            guard waited < Int(bitPattern: timeout) else { return 0 }
            sqlite3_sleep(isYoung ? 1 : 5)
            return 1
        }
        // The number is stored in the pointer itself, so nothing has to be kept alive for SQLite.
        try check(
            sqlite3_busy_handler(handle, handler, UnsafeMutableRawPointer(bitPattern: Int(milliseconds))))
    }
}
