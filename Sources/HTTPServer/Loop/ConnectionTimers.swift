/// The deadlines of an event loop's connections.
struct ConnectionTimers {
    private var wheel: TimerWheel

    init(nowMilliseconds: Int64) {
        wheel = TimerWheel(nowMilliseconds: nowMilliseconds)
    }

    /// Milliseconds until the next timer, or nil if there is none.
    func timeoutMilliseconds(now: Int64) -> Int64? { wheel.timeoutMilliseconds(now: now) }

    /// Sets a connection's deadline. A later deadline needs no new entry in the wheel: the existing entry checks again.
    mutating func setDeadline(_ connection: HTTPConnection, _ deadline: Int64) {
        connection.deadlineMilliseconds = deadline
        guard deadline < connection.timerMilliseconds, connection.phase != .closed else { return }
        connection.timerMilliseconds = min(deadline, wheel.horizonMilliseconds())
        wheel.insert(connection.key, deadlineMilliseconds: deadline)
    }

    /// Removes and returns the keys of the connections to check now.
    mutating func takeDue(now: Int64) -> [UInt64] {
        var due = [UInt64]()
        wheel.advance(toMilliseconds: now, due: &due)
        return due
    }

    /// Returns true if the connection's deadline has passed, and otherwise sets its timer again.
    mutating func isExpired(_ connection: HTTPConnection, now: Int64) -> Bool {
        let isExpired = connection.deadlineMilliseconds <= now
        if isExpired || connection.timerMilliseconds <= now {
            connection.timerMilliseconds = .max
            if !isExpired { setDeadline(connection, connection.deadlineMilliseconds) }
        }
        return isExpired
    }
}
