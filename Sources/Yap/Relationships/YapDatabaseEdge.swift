import System

/// An edge of a relationship: it has a name, and leads from a row to another row or to a file.
///
/// Two edges are the same one if name, source, destination and `isManual` are equal. Texts are equal if their bytes
/// are equal.
public struct YapDatabaseEdge: Hashable, Sendable {
    /// The name that groups edges of one meaning, such as "author". Up to 1,024 bytes.
    public let name: String
    /// The row at which the edge begins.
    public let source: YapCollectionKey
    /// The row or file at which the edge ends.
    public let destination: YapDatabaseEdgeDestination
    /// What happens when one of its ends is deleted.
    public let rules: YapDatabaseEdgeRules
    /// Whether the edge was added by the app with `add`. False for an edge that belongs to the object at its source.
    public internal(set) var isManual: Bool

    /// Makes an edge. It is part of a relationship once an object returns it or `add` got it.
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

    /// Whether both are the same edge. Their rules may differ.
    public static func == (left: YapDatabaseEdge, right: YapDatabaseEdge) -> Bool {
        left.isManual == right.isManual && left.source == right.source
            && left.destination == right.destination
            && left.name.hasSameBytes(as: right.name)
    }

    /// Hashes what `==` compares.
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
    /// A file, by a text that `YapDatabaseFileDeletion` understands: up to 4,096 bytes, not empty, without a zero byte.
    case file(String)

    /// The row with a key in a collection.
    public static func row(_ key: String, in collection: String) -> YapDatabaseEdgeDestination {
        .row(YapCollectionKey(collection: collection, key: key))
    }

    /// Whether both consist of the same bytes.
    public static func == (left: YapDatabaseEdgeDestination, right: YapDatabaseEdgeDestination) -> Bool {
        switch (left, right) {
        case (.row(let left), .row(let right)): left == right
        case (.file(let left), .file(let right)): left.hasSameBytes(as: right)
        default: false
        }
    }
}

/// What happens when an end of an edge is deleted. Rules can be combined. A row that one rule deletes is not notified
/// by another.
///
/// An edge that is only replaced, because its object was stored with others, fires no rule.
public struct YapDatabaseEdgeRules: OptionSet, Hashable, Sendable {
    /// The bits as they are stored.
    public let rawValue: Int64

    /// Makes rules of stored bits.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The source is deleted: `whenEdgeDeleted` gets the object at the destination.
    public static let notifyIfSourceDeleted = YapDatabaseEdgeRules(rawValue: 1)
    /// The destination is deleted: `whenEdgeDeleted` gets the object at the source.
    public static let notifyIfDestinationDeleted = YapDatabaseEdgeRules(rawValue: 2)
    /// The destination is deleted: delete the source.
    public static let deleteSourceIfDestinationDeleted = YapDatabaseEdgeRules(rawValue: 4)
    /// The source is deleted: delete the destination, a row or a file. A file stays as long as another edge leads to
    /// it.
    public static let deleteDestinationIfSourceDeleted = YapDatabaseEdgeRules(rawValue: 8)
    /// The destination is deleted: delete the source if no edge of this name leads from it any more.
    public static let deleteSourceIfAllDestinationsDeleted = YapDatabaseEdgeRules(rawValue: 16)
    /// The source is deleted: delete the destination if no edge of this name leads to it any more (a retain count). A
    /// file stays as long as an edge of any name leads to it.
    public static let deleteDestinationIfAllSourcesDeleted = YapDatabaseEdgeRules(rawValue: 32)

    static let all = YapDatabaseEdgeRules(rawValue: 63)
    static let ofDeletedSource: YapDatabaseEdgeRules = [
        .notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
    ]
    static let ofDeletedDestination: YapDatabaseEdgeRules = [
        .notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
    ]
}

/// Why an edge was deleted.
public enum YapDatabaseEdgeDeletionReason: Int64, Hashable, Sendable {
    /// Only the edge was deleted. No rule fires.
    case edgeDeleted = 0
    /// Its source was deleted, or is missing at the end of the transaction that added the edge.
    case sourceDeleted = 1
    /// Its destination was deleted, or is missing at the end of the transaction that added the edge.
    case destinationDeleted = 2
}

/// A deleted edge with the row at its other end, whose object may be replaced.
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
