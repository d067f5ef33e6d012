import CloudKit
internal import CloudWire

/// One thing in a request or an answer, for which a failure can be ordered.
enum TestItem: Hashable, Sendable {
    case record(zoneName: String, recordName: String)
    case zone(zoneName: String)
    case subscription(String)
}

/// What the test ordered to go wrong, in the order in which it did.
struct ScheduledFaults: Sendable {
    enum Effect: Sendable {
        case fail(WireError)
        case network(TestCloud.NetworkFault)
        /// Something else happens meanwhile.
        case call(@Sendable () -> Void)
    }

    struct Order: Sendable {
        /// Nil: whatever is asked for.
        var kind: RequestKind?
        /// Nil: whoever asks.
        var deviceNumber: Int?
        /// Nil: the request as a whole.
        var item: TestItem?
        var effect: Effect
        /// How many go through before.
        var skipsLeft: Int
        var timesLeft: Int
    }

    private var orders: [Order] = []

    mutating func add(_ order: Order) {
        if order.timesLeft > 0 { orders.append(order) }
    }

    /// What befalls a request as a whole.
    mutating func next(_ kind: RequestKind?, deviceNumber: Int) -> Effect? {
        first { $0.item == nil && $0.isFor(kind, deviceNumber) }
    }

    /// Whether a request of this kind may have an item with an order.
    func hasItems(_ kind: RequestKind?, deviceNumber: Int) -> Bool {
        orders.contains { $0.item != nil && $0.isFor(kind, deviceNumber) }
    }

    /// With what an item fails; nil: it doesn't.
    mutating func failure(of item: TestItem, _ kind: RequestKind?, deviceNumber: Int) -> WireError? {
        guard case .fail(var error)? = first(where: { $0.item == item && $0.isFor(kind, deviceNumber) })
        else {
            return nil
        }
        switch item {
        case .record(let zoneName, let recordName):
            error.recordName = recordName
            error.zoneID = ZoneID(zoneName: zoneName)
        case .zone(let zoneName): error.zoneID = ZoneID(zoneName: zoneName)
        case .subscription(let id): error.subscriptionID = id
        }
        return error
    }

    /// Takes the effect of the first order that is meant, and that lets nothing more through.
    private mutating func first(where isMeant: (Order) -> Bool) -> Effect? {
        for index in orders.indices where isMeant(orders[index]) {
            guard orders[index].skipsLeft == 0 else {
                orders[index].skipsLeft -= 1
                continue
            }
            defer { orders.removeAll { $0.timesLeft == 0 } }
            orders[index].timesLeft -= 1
            return orders[index].effect
        }
        return nil
    }
}

extension ScheduledFaults.Order {
    fileprivate func isFor(_ kind: RequestKind?, _ deviceNumber: Int) -> Bool {
        (self.kind == nil || self.kind == kind)
            && (self.deviceNumber == nil || self.deviceNumber == deviceNumber)
    }
}

/// The failures that a test orders, as they cross the wire.
extension WireError {
    init(ordered code: CKError.Code, retryAfterSeconds: Double?) {
        self.init(
            .internalError, reason: "Ordered by the test.", retryAfterSeconds: retryAfterSeconds,
            ckErrorCode: code.rawValue)
        if code == .changeTokenExpired { tokenRefusal = .expired }
    }
}
