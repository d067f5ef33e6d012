import CLinux
import Glibc
import Synchronization

extension EventLoop {
    /// Maximum number of connections beyond the limit that get an error response at a time.
    private static let turnedAwayMax = 256
    private static let pauseMilliseconds: Int64 = 100

    /// Accepts connections.
    ///
    /// - Returns: true if the kernel's queue may have more.
    func acceptConnections() -> Bool {
        // A bound, so that a storm of connections doesn't starve the existing ones.
        for _ in 0..<64 {
            switch listener.accept() {
            case .connection(let descriptor, let address): open(descriptor, address)
            case .none: return false
            case .exhausted:
                // `accept` would fail again at once.
                listener.pause(until: now + Self.pauseMilliseconds)
                return false
            case .failed: continue
            }
        }
        return true
    }

    private func open(_ descriptor: Int32, _ address: sockaddr_storage) {
        let connection = connections.insert(descriptor, address, limits: limits)
        let total = shared.connectionCount.add(1, ordering: .relaxed).newValue
        guard watch(connection) else { return cut(connection, .refused) }
        if total > options.connectionsMax { return turnAway(connection, "too many connections") }
        guard shared.addresses.begin(connection.network) else {
            return turnAway(connection, "too many connections from your address")
        }
        connection.isCounted = true
        if let tls = shared.tls {
            guard let session = tls.session(descriptor) else { return cut(connection, .refused) }
            connection.tls = session
            connection.phase = .handshaking
            setDeadline(connection, now + milliseconds(options.headerTimeoutSeconds))
        } else {
            setDeadline(connection, now + milliseconds(options.idleTimeoutSeconds))
        }
    }

    /// Sends the reason before the connection is closed, if few connections need that.
    private func turnAway(_ connection: HTTPConnection, _ reason: String) {
        if shared.tls != nil || connections.turnedAwayCount >= Self.turnedAwayMax {
            return cut(connection, .refused)
        }
        connections.turnAway(connection)
        shared.connectionCount.subtract(1, ordering: .relaxed)
        refuse(connection, 503, reason)
        goOn(connection)
    }
}
