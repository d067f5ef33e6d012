import FoundationEssentials

/// Work to do for an object from a date on, until the object no longer lists it.
///
/// ```swift
/// let upload = YapDatabaseAction("upload", at: todo.due, retryAfterSeconds: 60, requiresNetwork: true)
/// ```
public struct YapDatabaseAction: Hashable, Sendable {
    /// Maximum actions of one object. Writing an object with more fails. Of a fetched object with more, the first
    /// ones are kept.
    public static let perObjectMax = 100

    /// Identifier, unique among the actions of an object. If two have the same one, the last one counts.
    public var identifier: String
    /// Date from which the action is due.
    public var date: Date
    /// Seconds from a start of the action to its next start, if the object then still has the action. At least 1.
    public var retryAfterSeconds: Double
    /// True if the action starts only while the network is reachable.
    public var requiresNetwork: Bool

    /// Creates an action.
    ///
    /// - Parameters:
    ///   - identifier: Identifier, unique among the actions of an object.
    ///   - date: The date from which the action is due.
    ///   - retryAfterSeconds: Seconds from one start to the next. Use more than the action takes: this process
    ///     doesn't start it again while it runs, but another process may.
    ///   - requiresNetwork: Whether the action starts only while the network is reachable.
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
    /// The actions that the object has now. They must depend on the object only.
    var actions: [YapDatabaseAction] { get }
}

/// Identifies an action in a database by the row of its object and its own identifier.
public struct YapDatabaseActionID: Hashable, Sendable {
    /// Collection of the object.
    public let collection: String
    /// Key of the object.
    public let key: String
    /// Identifier of the action.
    public let identifier: String

    /// Returns true if both consist of the same bytes.
    public static func == (left: YapDatabaseActionID, right: YapDatabaseActionID) -> Bool {
        YapCollectionKey(collection: left.collection, key: left.key)
            == YapCollectionKey(collection: right.collection, key: right.key)
            && ExactString(left.identifier) == ExactString(right.identifier)
    }

    /// Hashes the texts. Texts of the same bytes have the same hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(collection))
        hasher.combine(ExactString(key))
        hasher.combine(ExactString(identifier))
    }
}

/// An action as stored in the table.
public struct YapDatabaseScheduledAction: Hashable, Sendable {
    /// Identifies the action.
    public let id: YapDatabaseActionID
    /// Date from the object, in whole milliseconds.
    public let date: Date
    /// Date of the next start: the action's own date, or after a start the date of the retry.
    public let nextStart: Date
    /// True if the action starts only while the network is reachable.
    public let requiresNetwork: Bool
}

/// A started action, as passed to the handler.
public struct YapDatabaseStartedAction<Object: Sendable>: Sendable {
    /// Identifies the action.
    public let id: YapDatabaseActionID
    /// Date from the object, in whole milliseconds.
    public let date: Date
    /// The object at the start.
    public let object: Object
    /// The metadata at the start, if the actions depend on it.
    private let metadata: (any Sendable)?

    /// Identifier of the action.
    public var identifier: String { id.identifier }
    /// Key of the object.
    public var key: String { id.key }

    init(id: YapDatabaseActionID, date: Date, object: Object, metadata: (any Sendable)? = nil) {
        (self.id, self.date, self.object, self.metadata) = (id, date, object, metadata)
    }

    /// Returns the metadata of the object at the start.
    ///
    /// - Parameter type: The type with which the actions were described.
    /// - Returns: Nil if the row has no metadata, or the actions were described without this type.
    public func metadata<Metadata: Sendable>(_ type: Metadata.Type) -> Metadata? { metadata as? Metadata }
}

/// Milliseconds since 1970, as the table stores them.
enum ActionTime {
    /// Later than any meaningful date, and far enough from the ends of `Int64` that sums of two don't overflow.
    static let max: Int64 = 1 << 60

    /// Rounds up, so that no action starts before its date. NaN is never due.
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
