import System

/// An edge of a relationship: it has a name, and leads from a row to another row or to a file.
///
/// ```swift
/// let edge = YapDatabaseEdge(
///     "author", from: book, to: .row("hugo", in: "authors"), rules: .notifyIfSourceDeleted)
/// ```
///
/// Two edges are equal if name, source, destination and `isManual` are equal. Texts are equal if their bytes are.
public struct YapDatabaseEdge: Hashable, Sendable {
    /// Name that groups edges of one meaning, for example "author". Up to 1,024 bytes.
    public let name: String
    /// The row at which the edge begins.
    public let source: YapCollectionKey
    /// The row or file at which the edge ends.
    public let destination: YapDatabaseEdgeDestination
    /// What happens if one of its ends is deleted.
    public let rules: YapDatabaseEdgeRules
    /// True if the app added the edge with `add`. False if it belongs to the object at its source.
    public internal(set) var isManual: Bool

    /// Creates an edge. It is part of a relationship when an object returns it or it was passed to `add`.
    ///
    /// - Parameters:
    ///   - name: Name that groups edges of one meaning. Up to 1,024 bytes.
    ///   - source: The row at which the edge begins.
    ///   - destination: The row or file at which the edge ends.
    ///   - rules: What happens when one of its ends is deleted.
    public init(
        _ name: String, from source: YapCollectionKey, to destination: YapDatabaseEdgeDestination,
        rules: YapDatabaseEdgeRules = []
    ) {
        self.name = name
        self.source = source
        self.destination = destination
        self.rules = rules
        isManual = false
    }

    /// Returns true if both are the same edge. Their rules may differ.
    public static func == (left: YapDatabaseEdge, right: YapDatabaseEdge) -> Bool {
        left.isManual == right.isManual && left.source == right.source
            && left.destination == right.destination
            && left.name.hasSameBytes(as: right.name)
    }

    /// Hashes the parts that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(source)
        hasher.combine(destination)
    }
}

/// The end of an edge.
public enum YapDatabaseEdgeDestination: Hashable, Sendable {
    /// A row.
    case row(YapCollectionKey)
    /// A file, by a text that `YapDatabaseFileDeletion` understands: 1 to 4,096 bytes, without a zero byte.
    case file(String)

    /// Returns the row with a key in a collection.
    public static func row(_ key: String, in collection: String) -> YapDatabaseEdgeDestination {
        .row(YapCollectionKey(collection: collection, key: key))
    }

    /// Returns true if both consist of the same bytes.
    public static func == (left: YapDatabaseEdgeDestination, right: YapDatabaseEdgeDestination) -> Bool {
        switch (left, right) {
        case (.row(let left), .row(let right)): left == right
        case (.file(let left), .file(let right)): left.hasSameBytes(as: right)
        default: false
        }
    }
}

/// What happens if an end of an edge is deleted. Rules can be combined. A row that one rule deletes isn't
/// notified by another.
///
/// An edge that is only replaced, because its object was stored with other edges, triggers no rule.
public struct YapDatabaseEdgeRules: OptionSet, Hashable, Sendable {
    /// The bits as they are stored.
    public let rawValue: Int64

    /// Creates rules from stored bits.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// When the source is deleted, `whenEdgeDeleted` gets the object at the destination.
    public static let notifyIfSourceDeleted = YapDatabaseEdgeRules(rawValue: 1)
    /// When the destination is deleted, `whenEdgeDeleted` gets the object at the source.
    public static let notifyIfDestinationDeleted = YapDatabaseEdgeRules(rawValue: 2)
    /// When the destination is deleted, deletes the source.
    public static let deleteSourceIfDestinationDeleted = YapDatabaseEdgeRules(rawValue: 4)
    /// When the source is deleted, deletes the destination, a row or a file. A file is kept as long as another edge
    /// leads to it.
    public static let deleteDestinationIfSourceDeleted = YapDatabaseEdgeRules(rawValue: 8)
    /// When the destination is deleted, deletes the source if no other edge of this name leads from it.
    public static let deleteSourceIfAllDestinationsDeleted = YapDatabaseEdgeRules(rawValue: 16)
    /// When the source is deleted, deletes the destination if no other edge of this name leads to it (a retain
    /// count). A file is kept as long as an edge of any name leads to it.
    public static let deleteDestinationIfAllSourcesDeleted = YapDatabaseEdgeRules(rawValue: 32)

    static let all = YapDatabaseEdgeRules(rawValue: 63)
    static let ofDeletedSource: YapDatabaseEdgeRules = [
        .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
    ]
    static let ofDeletedDestination: YapDatabaseEdgeRules = [
        .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
    ]
}

/// Reason that an edge was deleted.
public enum YapDatabaseEdgeDeletionReason: Int64, Hashable, Sendable {
    /// Only the edge was deleted. No rule runs.
    case edgeDeleted = 0
    /// Its source was deleted, or is missing at the end of the transaction that added the edge.
    case sourceDeleted = 1
    /// Its destination was deleted, or is missing at the end of the transaction that added the edge.
    case destinationDeleted = 2
}

/// A deleted edge, with the row at its other end. The row's object may be replaced.
public struct YapDatabaseEdgeDeletion: Sendable {
    /// The edge.
    public let edge: YapDatabaseEdge
    /// `sourceDeleted` or `destinationDeleted`.
    public let reason: YapDatabaseEdgeDeletionReason
    /// The row that still exists.
    public let row: YapCollectionKey
    /// The object of that row.
    public let object: any Sendable
}
