internal import CloudWire
import Foundation
internal import System

extension CKSubscription {
    /// Returns the subscription in a request.
    /// - Parameter clock: the clock of `now()` in a query.
    /// - Throws: `CKError.invalidArguments` for a query that the server can't watch.
    func wire(clock: any TimeSource) throws(CKError) -> WireSubscription {
        let state = state.withLock { $0 }
        let kind: WireSubscription.Kind =
            switch state.type {
            case .query: .query
            case .recordZone: .zone
            case .database: .database
            }
        var wire = WireSubscription(
            subscriptionID: state.subscriptionID, subscriptionType: kind, zoneID: state.zoneID?.wire,
            notificationInfo: state.info?.wire)
        guard let query = state.query else { return wire }
        let triggers = query.options.triggers
        guard !triggers.isEmpty else {
            throw CKError(
                .invalidArguments,
                "A query subscription needs creation, update or deletion among its options.")
        }
        let asked = CKQuery(recordType: query.recordType, predicate: query.predicate)
        guard let wireQuery = try asked.wire(zoneID: state.zoneID, clock: clock) else {
            throw CKError(
                .invalidArguments, "A query subscription that can't match any record would never fire.")
        }
        wire.query = wireQuery
        wire.firesOn = triggers
        wire.firesOnce = query.options.contains(.firesOnce) ? true : nil
        wire.zoneWide = state.zoneID == nil ? true : nil
        return wire
    }
}

extension CKQuerySubscription.Options {
    fileprivate static let names: [(CKQuerySubscription.Options, WireSubscription.Trigger)] = [
        (.firesOnRecordCreation, .create), (.firesOnRecordUpdate, .update), (.firesOnRecordDeletion, .delete),
    ]

    fileprivate var triggers: [WireSubscription.Trigger] { Self.names.filter { contains($0.0) }.map(\.1) }

    fileprivate init(_ triggers: [WireSubscription.Trigger], firesOnce: Bool) {
        self = Self.names.reduce(into: firesOnce ? .firesOnce : []) { options, name in
            if triggers.contains(name.1) { options.insert(name.0) }
        }
    }
}

extension RequestAddress {
    /// Returns a subscription of a response.
    func subscription(_ wire: WireSubscription) -> Result<CKSubscription, CKError> {
        Result { () throws(CKError) in
            let subscription = try Self.make(wire, zoneID: wire.zoneID.map { zoneID($0) })
            let info = wire.notificationInfo.map { CKNotificationInfo($0) }
            subscription.state.withLock { $0.info = info }
            return subscription
        }
    }

    private static func make(
        _ wire: WireSubscription, zoneID: CKRecordZoneID?
    ) throws(CKError) -> CKSubscription {
        if wire.subscriptionType == .database {
            return CKDatabaseSubscription(subscriptionID: wire.subscriptionID)
        }
        if wire.subscriptionType == .zone, let zoneID {
            return CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: wire.subscriptionID)
        }
        if wire.subscriptionType == .query, let query = wire.query, let recordType = query.recordType {
            let predicate = PredicateWriter(try Predicate(query.filterBy ?? [], zoneID: zoneID ?? .default))
            let subscription = CKQuerySubscription(
                recordType: recordType,
                predicate: NSPredicate(format: predicate.format, argumentArray: predicate.arguments),
                subscriptionID: wire.subscriptionID,
                options: CKQuerySubscription.Options(wire.firesOn ?? [], firesOnce: wire.firesOnce ?? false))
            subscription.zoneID = zoneID
            return subscription
        }
        throw CKError(
            .incompatibleVersion,
            "This framework has no subscriptions of the type \(wire.subscriptionType?.rawValue ?? "none").")
    }
}
