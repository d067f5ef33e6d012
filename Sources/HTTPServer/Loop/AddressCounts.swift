import System

/// How many connections each address has, of all loops together.
final class AddressCounts: Sendable {
    private let max: Int
    private let countsLoopback: Bool
    private let counts = Lock<[ClientNetwork: Int]>([:])

    /// - Parameter max: 0: as many as come.
    init(max: Int, countsLoopback: Bool) {
        self.max = max
        self.countsLoopback = countsLoopback
    }

    /// How many addresses are counted.
    var count: Int { counts.withLock { $0.count } }

    /// Counts one more; false when the address has as many as it may.
    func begin(_ network: ClientNetwork) -> Bool {
        guard isCounted(network) else { return true }
        return counts.withLock { counts in
            let count = counts[network] ?? 0
            guard count < max else { return false }
            counts[network] = count + 1
            return true
        }
    }

    /// One that was counted is gone.
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
