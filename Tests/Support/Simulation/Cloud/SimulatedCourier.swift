import CloudWire

/// The waits for pushes that devices hold open.
final class SimulatedCourier {
    /// One device's.
    final class Wait {
        let token: String
        /// Answers it; nil cuts it.
        let end: (WireResponse?) -> Void

        init(token: String, end: @escaping (WireResponse?) -> Void) {
            self.token = token
            self.end = end
        }
    }

    /// Milliseconds after which a wait is answered with nothing, as a server does.
    static let holdMilliseconds: Int64 = 25_000

    private(set) var waits: [Wait] = []
    var hasWaits: Bool { !waits.isEmpty }

    static func isWait(_ request: WireRequest) -> Bool {
        request.method == "GET" && request.path.hasSuffix("/courier")
    }

    func add(_ wait: Wait) { waits.append(wait) }

    func remove(_ wait: Wait) { waits.removeAll { $0 === wait } }

    /// Whether it still waits: then it is taken out, to be answered.
    func take(_ wait: Wait) -> Bool {
        let waits = waits.contains { $0 === wait }
        remove(wait)
        return waits
    }
}
