internal import CloudWire
public import Foundation
internal import System

/// A subscription to changes. After it is saved, changes by other devices arrive as notifications.
///
/// A subscription replaces another with the same ID. A device isn't notified of its own changes.
public class CKSubscription: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because all mutable state is behind a lock. A subclass must restate it.

    /// A subscription's ID, unique in its user's database.
    public typealias ID = String
    /// The content of notifications.
    public typealias NotificationInfo = CKNotificationInfo
    /// The kind of a subscription. The values are Apple's.
    public enum SubscriptionType: Int, Sendable, Hashable {
        /// A query subscription.
        case query = 1
        /// A zone subscription.
        case recordZone = 2
        /// A database subscription.
        case database = 3
    }

    struct State: Hashable {
        var subscriptionID: ID
        var type: SubscriptionType
        var zoneID: CKRecordZoneID?
        var query: WatchedQuery?
        var recordType: CKRecord.RecordType?
        var info: CKNotificationInfo?
    }

    let state: Lock<State>

    init(_ state: State) {
        self.state = Lock(state)
    }

    /// The subscription's ID.
    public var subscriptionID: ID { state.withLock { $0.subscriptionID } }
    /// The kind of the subscription.
    public var subscriptionType: SubscriptionType { state.withLock { $0.type } }

    /// The content of the notifications; nil for none. A set value is copied. The returned object belongs to the
    /// subscription: setting its properties changes the subscription.
    public var notificationInfo: NotificationInfo? {
        get { state.withLock { $0.info } }
        set {
            let info = newValue.map { NotificationInfo($0.wire) }
            // The previous value is released after the lock: from an archive it may be of a class of the app.
            _ = state.withLock { state in
                defer { state.info = info }
                return state.info
            }
        }
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        var state = state.withLock { $0 }
        state.info = state.info.map { NotificationInfo($0.wire) }
        return type(of: self).init(copying: state)
    }

    /// Makes a subscription with the state of another one.
    required init(copying state: State) {
        self.state = Lock(state)
    }

    /// Returns true if `object` is a subscription with the same contents.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKSubscription else { return false }
        return other === self || other.state.withLock { $0 } == state.withLock { $0 }
    }

    /// The same for equal subscriptions.
    public override var hash: Int { subscriptionID.hashValue }

    /// Class and ID, for logs.
    public override var description: String { "<\(type(of: self)): \(subscriptionID)>" }

    // MARK: Archives

    /// Subscriptions can be read from archives with secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Encodes the subscription in a keyed archive.
    public func encode(with coder: NSCoder) {
        let state = state.withLock { $0 }
        coder.encode(state.subscriptionID as NSString, forKey: "SubscriptionID")
        coder.encode(state.type.rawValue, forKey: "SubscriptionType")
        if let zoneID = state.zoneID { coder.encode(zoneID, forKey: "ZoneID") }
        if let info = notificationInfo { coder.encode(info, forKey: "NotificationInfo") }
        if let recordType = state.recordType { coder.encode(recordType as NSString, forKey: "RecordType") }
    }

    /// Reads a subscription from a keyed archive; nil if it has none of this class.
    public required init?(coder: NSCoder) {
        guard let subscriptionID = coder.string(forKey: "SubscriptionID"),
            let type = SubscriptionType(rawValue: coder.decodeInteger(forKey: "SubscriptionType"))
        else { return nil }
        let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID")
        let info = coder.object(CKNotificationInfo.self, forKey: "NotificationInfo")
        var state = State(subscriptionID: subscriptionID, type: type, zoneID: zoneID, info: info)
        if type != .query { state.recordType = coder.string(forKey: "RecordType") }
        self.state = Lock(state)
        super.init()
        guard Self.canHold(state) else { return nil }
    }

    /// Returns true if an archived state is one of this class.
    class func canHold(_ state: State) -> Bool { false }
}

/// A subscription to a whole database: the user's private one, or the shared one.
public final class CKDatabaseSubscription: CKSubscription, @unchecked Sendable {
    // Sendable for the reason given at CKSubscription.

    /// Makes a subscription with a random ID.
    public convenience init() {
        self.init(subscriptionID: SystemRandomSource().nextUUID())
    }

    /// Makes a subscription with the ID `subscriptionID`.
    public init(subscriptionID: CKSubscription.ID) {
        super.init(State(subscriptionID: subscriptionID, type: .database))
    }

    /// The type of the records; nil for all. It is stored and archived, but not sent: changes of other types
    /// are reported too, and the next fetch shows that no record of this type has changed.
    /// - Note: Inert: the cloud reports that a zone changed, and not the types of the changed records.
    public var recordType: CKRecord.RecordType? {
        get { state.withLock { $0.recordType } }
        set { state.withLock { $0.recordType = newValue } }
    }

    required init(copying state: State) { super.init(copying: state) }

    /// Reads a subscription from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    override class func canHold(_ state: State) -> Bool { state.type == .database }
}

/// A subscription to one zone of the user's private database.
public final class CKRecordZoneSubscription: CKSubscription, @unchecked Sendable {
    // Sendable for the reason given at CKSubscription.

    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// Makes a subscription to `zoneID` with a random ID.
    public convenience init(zoneID: CKRecordZone.ID) {
        self.init(zoneID: zoneID, subscriptionID: SystemRandomSource().nextUUID())
    }

    /// Makes a subscription to `zoneID` with the ID `subscriptionID`.
    public init(zoneID: CKRecordZone.ID, subscriptionID: CKSubscription.ID) {
        self.zoneID = zoneID
        super.init(State(subscriptionID: subscriptionID, type: .recordZone, zoneID: zoneID))
    }

    /// The type of the records; nil for all. It is stored and archived, but not sent: changes of other types
    /// are reported too, and the next fetch shows that no record of this type has changed.
    /// - Note: Inert: the cloud reports that a zone changed, and not the types of the changed records.
    public var recordType: CKRecord.RecordType? {
        get { state.withLock { $0.recordType } }
        set { state.withLock { $0.recordType = newValue } }
    }

    required init(copying state: State) {
        zoneID = state.zoneID ?? .default
        super.init(copying: state)
    }

    /// Reads a subscription from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        guard let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        super.init(coder: coder)
    }

    override class func canHold(_ state: State) -> Bool { state.type == .recordZone && state.zoneID != nil }
}
