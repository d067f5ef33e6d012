import Dispatch
import SQLite
import System

/// Connections that read, lent to one thread at a time.
final class ReaderPool: Sendable {
    /// What is asked for after `close`.
    struct Closed: Error {}

    /// A connection that nobody uses, on its way from one thread to another.
    private struct Idle: @unchecked Sendable {
        // Sendable because a connection may be used on any thread by one at a time: it is in the list while nobody
        // has it, and only who took it out of the list has it.
        let connection: Connection
    }

    /// Nil when the pool is closed.
    private let idle: Lock<[Idle]?>
    private let free: DispatchSemaphore
    private let open: @Sendable () throws -> Connection

    /// Makes a pool of `connectionsMax` at most, and opens the first, so that an error is seen at once.
    init(connectionsMax: Int, open: @escaping @Sendable () throws -> Connection) throws {
        precondition(connectionsMax > 0)
        self.open = open
        idle = Lock([Idle(connection: try open())])
        free = DispatchSemaphore(value: connectionsMax)
    }

    /// Lends a connection to `body`, and waits for one while all are lent.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        free.wait()
        defer { free.signal() }
        let lent = try idle.withLock { idle in
            guard idle != nil else { throw Closed() }
            return idle?.popLast()
        }
        let connection = try lent?.connection ?? open()
        // One that comes back after `close` goes with its last reference.
        defer { idle.withLock { $0?.append(Idle(connection: connection)) } }
        return try body(connection)
    }

    /// Closes the connections that nobody uses, and the others when they come back. From now on none is lent.
    func close() {
        idle.withLock { $0 = nil }
    }
}
