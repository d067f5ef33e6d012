import System

/// Counts the bytes that a server holds for its clients, in total and by client network.
final class NetworkByteCounts: Sendable {
    enum Answer: Equatable {
        case taken
        /// The total is used up.
        case isFull
        /// The network's share is used up.
        case shareIsFull
    }

    private struct State {
        var bytes = 0
        var bytesByNetwork: [ClientNetwork: Int] = [:]
    }

    private let bytesMax: Int
    private let sharesCount: Int
    private let bytesOfNetworkMin: Int
    private let state = Lock(State())

    /// - Parameters:
    ///   - sharesCount: a network may take the free bytes divided by this number. With 1, one network fills half and
    ///     two fill two thirds. With 8, only many networks together use up the total.
    ///   - bytesOfNetworkMin: bytes that a network may always have while there is room.
    init(bytesMax: Int, sharesCount: Int, bytesOfNetworkMin: Int = 0) {
        self.bytesMax = bytesMax
        self.sharesCount = sharesCount
        self.bytesOfNetworkMin = bytesOfNetworkMin
    }

    var byteCount: Int { state.withLock { $0.bytes } }

    /// Number of networks with counted bytes.
    var networksCount: Int { state.withLock { $0.bytesByNetwork.count } }

    /// Counts bytes, if there is room for them.
    func take(_ count: Int, for network: ClientNetwork) -> Answer {
        state.withLock { state in
            let own = state.bytesByNetwork[network] ?? 0
            let left = bytesMax - state.bytes
            guard count <= left else { return .isFull }
            guard own == 0 || own + count <= max(bytesOfNetworkMin, left / sharesCount) else {
                return .shareIsFull
            }
            state.bytes += count
            state.bytesByNetwork[network] = own + count
            return .taken
        }
    }

    /// Releases counted bytes.
    func giveBack(_ count: Int, for network: ClientNetwork) {
        state.withLock { state in
            state.bytes -= count
            let left = (state.bytesByNetwork[network] ?? 0) - count
            state.bytesByNetwork[network] = left > 0 ? left : nil
        }
    }
}
