import Glibc

/// The open connections of an event loop, by descriptor.
struct ConnectionTable {
    private var connections = [HTTPConnection?]()
    /// Distinguishes the connections that have had the same descriptor.
    private var generation: UInt32 = 0
    /// Number of open connections.
    private(set) var count = 0
    /// Number of open connections beyond the limit, which only get an error response.
    private(set) var turnedAwayCount = 0

    /// The open connections.
    var all: [HTTPConnection] { connections.compactMap(\.self) }

    /// The connection of an event or a timer, or nil if it is closed.
    subscript(key key: UInt64) -> HTTPConnection? {
        let index = Int(UInt32(truncatingIfNeeded: key))
        guard index < connections.count, let connection = connections[index],
            connection.generation == UInt32(truncatingIfNeeded: key >> 32)
        else { return nil }
        return connection
    }

    /// The connection of a request, or nil if the request has ended.
    subscript(key: ExchangeKey) -> HTTPConnection? {
        let index = Int(key.descriptor)
        guard index < connections.count, let connection = connections[index],
            connection.generation == key.generation, connection.requestCount == key.request,
            connection.exchange != nil
        else { return nil }
        return connection
    }

    /// Adds a connection for an accepted socket.
    mutating func insert(
        _ descriptor: Int32, _ address: sockaddr_storage, limits: HTTPParserLimits
    ) -> HTTPConnection {
        generation &+= 1
        if generation == .max { generation = 1 }
        let connection = HTTPConnection(
            descriptor: descriptor, generation: generation, peer: text(of: address),
            network: ClientNetwork(address), limits: limits)
        let index = Int(descriptor)
        if index >= connections.count {
            connections += Array(repeating: nil, count: index + 1 - connections.count)
        }
        connections[index] = connection
        count += 1
        return connection
    }

    /// Marks a connection as one beyond the limit.
    mutating func turnAway(_ connection: HTTPConnection) {
        connection.isTurnedAway = true
        turnedAwayCount += 1
    }

    /// Removes a connection that is being closed.
    mutating func remove(_ connection: HTTPConnection) {
        connections[Int(connection.descriptor)] = nil
        count -= 1
        if connection.isTurnedAway { turnedAwayCount -= 1 }
    }
}
