import System

/// Counts the connections of each address over all event loops.
final class AddressCounts: Sendable {
    private let max: Int
    private let countsLoopback: Bool
    private let counts = Lock<[ClientNetwork: Int]>([:])

    /// - Parameter max: maximum connections of an address, or 0 for no limit.
    init(max: Int, countsLoopback: Bool) {
        self.max = max
        self.countsLoopback = countsLoopback
    }

    /// Number of addresses with connections.
    var count: Int { counts.withLock { $0.count } }

    /// Counts one more connection.
    ///
    /// - Returns: false if the address has the maximum.
    func begin(_ network: ClientNetwork) -> Bool {
        guard isCounted(network) else { return true }
        return counts.withLock { counts in
            let count = counts[network] ?? 0
            guard count < max else { return false }
            counts[network] = count + 1
            return true
        }
    }

    /// Removes a counted connection.
    func end(_ network: ClientNetwork) {
        guard isCounted(network) else { return }
        counts.withLock { counts in
            guard let count = counts[network] else { return }
            counts[network] = count > 1 ? count - 1 : nil
        }
    }

    private func isCounted(_ network: ClientNetwork) -> Bool {
        max > 0 && (countsLoopback || !network.isLoopback)
    }
}
