import FoundationEssentials

/// Work that is to be done for an object from a date on, until the object no longer asks for it.
public struct YapDatabaseAction: Hashable, Sendable {
    /// Maximum number of actions of one object. The write of an object with more fails; one that a sync fetched has the
    /// first of them.
    public static let perObjectMax = 100

    /// Name of the action among those of its object. Of two with one identifier the last one counts.
    public var identifier: String
    /// The date from which the action is due.
    public var date: Date
    /// Seconds from the start of the action to its next start, if the object then still has the action. At least 1.
    public var retryAfterSeconds: Double
    /// Whether the action is started only while the network is reachable.
    public var requiresNetwork: Bool

    /// Describes an action.
    ///
    /// - Parameters:
    ///   - identifier: Name of the action among those of its object.
    ///   - date: The date from which the action is due.
    ///   - retryAfterSeconds: Seconds from one start to the next. More than the action takes: while it runs it isn't
    ///     started again by this process, but it may be by another one.
    ///   - requiresNetwork: Whether the action is started only while the network is reachable.
    public init(
        _ identifier: String, at date: Date, retryAfterSeconds: Double = 60, requiresNetwork: Bool = false
    ) {
        (self.identifier, self.date) = (identifier, date)
        (self.retryAfterSeconds, self.requiresNetwork) = (retryAfterSeconds, requiresNetwork)
    }
}

/// An object that has actions.
///
/// ```swift
/// extension Todo: YapDatabaseActionSource {
///     var actions: [YapDatabaseAction] { isUploaded ? [] : [YapDatabaseAction("upload", at: due)] }
/// }
/// ```
public protocol YapDatabaseActionSource: Sendable {
    /// The actions that the object has now. They depend on the object alone.
    var actions: [YapDatabaseAction] { get }
}

/// What identifies an action in a database: the row of its object, and its own identifier.
public struct YapDatabaseActionID: Hashable, Sendable {
    /// The collection of the object.
    public let collection: String
    /// The key of the object.
    public let key: String
    /// The action's identifier.
    public let identifier: String

    /// Whether both consist of the same bytes.
    public static func == (left: YapDatabaseActionID, right: YapDatabaseActionID) -> Bool {
        YapCollectionKey(collection: left.collection, key: left.key)
            == YapCollectionKey(collection: right.collection, key: right.key)
            && ExactString(left.identifier) == ExactString(right.identifier)
    }

    /// Hashes the texts; texts of the same bytes have one hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(collection))
        hasher.combine(ExactString(key))
        hasher.combine(ExactString(identifier))
    }
}

/// An action as the table has it.
public struct YapDatabaseScheduledAction: Hashable, Sendable {
    /// What identifies the action.
    public let id: YapDatabaseActionID
    /// The date that the object gave it, in whole milliseconds.
    public let date: Date
    /// The date of its next start: its own, or after a start the date of the retry.
    public let nextStart: Date
    /// Whether the action is started only while the network is reachable.
    public let requiresNetwork: Bool
}

/// An action that is started, as the handler gets it.
public struct YapDatabaseStartedAction<Object: Sendable>: Sendable {
    /// What identifies the action.
    public let id: YapDatabaseActionID
    /// The date that the object gave it, in whole milliseconds.
    public let date: Date
    /// The object at the start.
    public let object: Object
    /// The metadata at the start, if the actions depend on it.
    private let metadata: (any Sendable)?

    /// The action's identifier.
    public var identifier: String { id.identifier }
    /// The key of the object.
    public var key: String { id.key }

    init(id: YapDatabaseActionID, date: Date, object: Object, metadata: (any Sendable)? = nil) {
        (self.id, self.date, self.object, self.metadata) = (id, date, object, metadata)
    }

    /// The metadata of the object at the start.
    ///
    /// - Parameter type: The type with which the actions were described.
    /// - Returns: nil if the row has no metadata, or the actions were described without this type.
    public func metadata<Metadata: Sendable>(_ type: Metadata.Type) -> Metadata? { metadata as? Metadata }
}

/// Milliseconds since 1970, as the table stores them.
enum ActionTime {
    /// Far beyond each date that means something, and so far from the ends of `Int64` that sums of two don't overflow.
    static let max: Int64 = 1 << 60

    /// Rounded up, so that no action is started before its date. NaN is never due.
    static func milliseconds(_ date: Date) -> Int64 { milliseconds(seconds: date.timeIntervalSince1970) }

    static func milliseconds(seconds: Double) -> Int64 {
        guard !seconds.isNaN else { return max }
        let milliseconds = (seconds * 1000).rounded(.up)
        return Int64(Swift.min(Swift.max(milliseconds, Double(-max)), Double(max)))
    }

    static func date(_ milliseconds: Int64) -> Date {
        Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }
}
