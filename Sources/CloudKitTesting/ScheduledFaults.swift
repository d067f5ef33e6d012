import CloudKit
internal import CloudWire

/// An item of a request or response that can fail.
enum TestItem: Hashable, Sendable {
    case record(zoneName: String, recordName: String)
    case zone(zoneName: String)
    case subscription(String)
}

/// The faults that the test has scheduled, in their order.
struct ScheduledFaults: Sendable {
    enum Effect: Sendable {
        case fail(WireError)
        case network(TestCloud.NetworkFault)
        /// Calls the test while the request is in flight.
        case call(@Sendable () -> Void)
    }

    struct Order: Sendable {
        /// The kind of request; nil for any.
        var kind: RequestKind?
        /// The device; nil for any.
        var deviceNumber: Int?
        /// The item that fails; nil for the whole request.
        var item: TestItem?
        var effect: Effect
        /// Number of matching requests that pass first.
        var skipsLeft: Int
        var timesLeft: Int
    }

    private var orders: [Order] = []

    mutating func add(_ order: Order) {
        if order.timesLeft > 0 { orders.append(order) }
    }

    /// Returns the next fault of a whole request.
    mutating func next(_ kind: RequestKind?, deviceNumber: Int) -> Effect? {
        first { $0.item == nil && $0.isFor(kind, deviceNumber) }
    }

    /// Returns true if items of such a request may fail.
    func hasItems(_ kind: RequestKind?, deviceNumber: Int) -> Bool {
        orders.contains { $0.item != nil && $0.isFor(kind, deviceNumber) }
    }

    /// Returns the failure of an item; nil if it doesn't fail.
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

    /// Returns the effect of the first matching fault that is due, and counts it.
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

/// Scheduled failures in the form of the protocol.
extension WireError {
    init(ordered code: CKError.Code, retryAfterSeconds: Double?) {
        self.init(
            .internalError, reason: "Ordered by the test.", retryAfterSeconds: retryAfterSeconds,
            ckErrorCode: code.rawValue)
        if code == .changeTokenExpired { tokenRefusal = .expired }
    }
}
