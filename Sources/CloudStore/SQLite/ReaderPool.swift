import Dispatch
import SQLite
import System

/// A pool of read connections. Each is used by one thread at a time.
final class ReaderPool: Sendable {
    /// A read after `close`.
    struct Closed: Error {}

    /// An idle connection that moves from one thread to another.
    private struct Idle: @unchecked Sendable {
        // Sendable because one thread at a time may use a connection: an idle one is in the list, and only the thread
        // that took it out of the list uses it.
        let connection: Connection
    }

    /// Nil after `close`.
    private let idle: Lock<[Idle]?>
    private let free: DispatchSemaphore
    private let open: @Sendable () throws -> Connection

    /// Makes a pool of up to `connectionsMax` connections, and opens the first, so that an error is reported at once.
    init(connectionsMax: Int, open: @escaping @Sendable () throws -> Connection) throws {
        precondition(connectionsMax > 0)
        self.open = open
        idle = Lock([Idle(connection: try open())])
        free = DispatchSemaphore(value: connectionsMax)
    }

    /// Runs `body` with a connection, and waits for one if all are in use.
    func withConnection<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        free.wait()
        defer { free.signal() }
        let lent = try idle.withLock { idle in
            guard idle != nil else { throw Closed() }
            return idle?.popLast()
        }
        let connection = try lent?.connection ?? open()
        // A connection that is returned after `close` is closed when its last reference is released.
        defer { idle.withLock { $0?.append(Idle(connection: connection)) } }
        return try body(connection)
    }

    /// Closes the idle connections now, and the others when they are returned. Later reads fail.
    func close() {
        idle.withLock { $0 = nil }
    }
}
