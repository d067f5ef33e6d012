public import Foundation
internal import System

/// A subscription to changes of records that match a query.
public final class CKQuerySubscription: CKSubscription, @unchecked Sendable {
    // Sendable for the reason given at CKSubscription.

    /// The changes that fire a subscription, and how often.
    public struct Options: OptionSet, Sendable, Hashable {
        /// The bits, as Apple numbers them.
        public let rawValue: UInt

        /// Makes the set with these bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Fires when a matching record is created.
        public static let firesOnRecordCreation = Options(rawValue: 1)
        /// Fires when a matching record is changed.
        public static let firesOnRecordUpdate = Options(rawValue: 2)
        /// Fires when a matching record is deleted.
        public static let firesOnRecordDeletion = Options(rawValue: 4)
        /// The subscription is deleted after its first notification.
        public static let firesOnce = Options(rawValue: 8)

        /// The options that fire.
        static let triggers: Options = [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion]
    }

    /// Makes a subscription.
    /// - Parameters:
    ///   - recordType: the type of the records.
    ///   - predicate: made from a format string. The save rejects a predicate that the server can't evaluate.
    ///   - subscriptionID: the subscription's ID.
    ///   - querySubscriptionOptions: the changes that fire it. The save rejects a subscription without any.
    public init(
        recordType: CKRecord.RecordType, predicate: NSPredicate, subscriptionID: CKSubscription.ID,
        options querySubscriptionOptions: Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        let watched = WatchedQuery(
            recordType: recordType, predicate: predicate, options: querySubscriptionOptions)
        super.init(State(subscriptionID: subscriptionID, type: .query, query: watched))
    }

    /// Makes a subscription with a random ID.
    @available(*, deprecated, renamed: "init(recordType:predicate:subscriptionID:options:)")
    public convenience init(
        recordType: CKRecord.RecordType, predicate: NSPredicate,
        options querySubscriptionOptions: Options = [
            .firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion,
        ]
    ) {
        self.init(
            recordType: recordType, predicate: predicate, subscriptionID: SystemRandomSource().nextUUID(),
            options: querySubscriptionOptions)
    }

    /// The type of the records.
    public var recordType: CKRecord.RecordType? { query?.recordType }
    /// The predicate of the records.
    public var predicate: NSPredicate { query?.predicate ?? NSPredicate(value: false) }
    /// The changes that fire the subscription, and how often.
    public var querySubscriptionOptions: Options { query?.options ?? [] }

    /// The zone of the records; nil for all zones of the database.
    public var zoneID: CKRecordZone.ID? {
        get { state.withLock { $0.zoneID } }
        set { state.withLock { $0.zoneID = newValue } }
    }

    private var query: WatchedQuery? { state.withLock { $0.query } }

    // MARK: Archives

    required init(copying state: State) { super.init(copying: state) }

    /// Encodes the subscription in a keyed archive.
    public override func encode(with coder: NSCoder) {
        super.encode(with: coder)
        guard let query else { return }
        coder.encode(query.recordType as NSString, forKey: "RecordType")
        coder.encode(Int(query.options.rawValue), forKey: "QuerySubscriptionOptions")
        coder.encode(predicate: query.predicate)
    }

    /// Reads a subscription from a keyed archive; nil if it has none.
    public required init?(coder: NSCoder) {
        super.init(coder: coder)
        guard let recordType = coder.string(forKey: "RecordType"), let predicate = coder.predicate() else {
            return nil
        }
        let bits = UInt(clamping: coder.decodeInteger(forKey: "QuerySubscriptionOptions"))
        state.withLock {
            $0.query = WatchedQuery(
                recordType: recordType, predicate: predicate, options: Options(rawValue: bits))
        }
    }

    override class func canHold(_ state: State) -> Bool { state.type == .query }
}

/// The query of a subscription.
struct WatchedQuery: Hashable, @unchecked Sendable {
    // Sendable because predicates are never changed.

    let recordType: CKRecord.RecordType
    let predicate: NSPredicate
    let options: CKQuerySubscription.Options

    static func == (left: WatchedQuery, right: WatchedQuery) -> Bool {
        left.recordType == right.recordType && left.options == right.options
            && (left.predicate === right.predicate || left.read != nil && left.read == right.read)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(recordType)
        hasher.combine(options)
    }

    private var read: Predicate? { try? Predicate(predicate) }
}
