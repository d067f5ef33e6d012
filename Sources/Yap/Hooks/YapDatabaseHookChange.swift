/// A change of one row, passed to the hooks `willModify` and `didModify`.
///
/// It belongs to its transaction. Reading from it later throws `transactionEnded`.
public struct YapDatabaseHookChange<Object: Sendable> {
    /// Kind of the change.
    public let kind: YapDatabaseHookChangeKind
    /// Collection of the row.
    public let collection: String
    /// Key of the row.
    public let key: String

    private enum Value {
        case loaded((any Sendable)?)
        /// The write doesn't set the value.
        case stored
    }

    private let newObject: Value
    private let newMetadata: Value
    private let transaction: YapDatabaseReadTransaction

    /// - Returns: Nil for removals.
    init?(_ change: YapDatabaseRowChange, _ transaction: YapDatabaseReadTransaction) {
        let (row, kind, object, metadata): (YapDatabaseRowIdentity, YapDatabaseHookChangeKind, Value, Value)
        switch change {
        case .insert(let inserted, let new, let newMetadata):
            (row, kind) = (inserted, [.inserted, .changedObject, .changedMetadata])
            (object, metadata) = (.loaded(new), .loaded(newMetadata))
        case .update(let updated, let new, let newMetadata):
            (row, kind) = (updated, [.updated, .changedObject, .changedMetadata])
            (object, metadata) = (.loaded(new), .loaded(newMetadata))
        case .replaceObject(let updated, let new):
            (row, kind, object, metadata) = (updated, [.updated, .changedObject], .loaded(new), .stored)
        case .replaceMetadata(let updated, let new):
            (row, kind, object, metadata) = (updated, [.updated, .changedMetadata], .stored, .loaded(new))
        case .touchObject(let touched):
            (row, kind, object, metadata) = (touched, .touchedObject, .stored, .stored)
        case .touchMetadata(let touched):
            (row, kind, object, metadata) = (touched, .touchedMetadata, .stored, .stored)
        case .touchRow(let touched):
            (row, kind, object, metadata) = (touched, [.touchedObject, .touchedMetadata], .stored, .stored)
        case .remove, .removeAll: return nil
        }
        (self.kind, self.newObject, newMetadata, self.transaction) = (kind, object, metadata, transaction)
        (collection, key) = (row.collection, row.key)
    }

    /// True if the write sets the object, so that `object` reads nothing. Otherwise `object` reads the row.
    public var isObjectLoaded: Bool {
        if case .loaded = newObject { true } else { false }
    }

    /// True if the write sets the metadata, so that `metadata(_:)` reads nothing. Otherwise it reads the row.
    public var isMetadataLoaded: Bool {
        if case .loaded = newMetadata { true } else { false }
    }

    /// The object after the change. In `willModify` the transaction still returns the object before it.
    ///
    /// If the write doesn't set the object, this property reads it from the cache or the file.
    ///
    /// - Returns: Nil if an earlier hook removed the row.
    /// - Throws: `YapDatabaseError`: `decoding`, `missingRegistration`, `typeMismatch`, `transactionEnded`.
    public var object: Object? {
        get throws {
            switch newObject {
            case .loaded(let object): try cast(object, Object.self)
            case .stored:
                try cast(transaction.object(forKey: key, inCollection: collection), Object.self)
            }
        }
    }

    /// Returns the metadata after the change. In `willModify` the transaction still returns the metadata before it.
    ///
    /// If the write doesn't set the metadata, this call reads it from the cache or the file.
    ///
    /// - Parameter type: The registered type of the collection's metadata.
    /// - Returns: Nil if the row has none.
    /// - Throws: The errors of `object`.
    public func metadata<Metadata: Sendable>(_ type: Metadata.Type) throws -> Metadata? {
        switch newMetadata {
        case .loaded(let metadata): try cast(metadata, type)
        case .stored: try transaction.metadata(type, forKey: key, inCollection: collection)
        }
    }

    private func cast<Value: Sendable>(_ value: (any Sendable)?, _ type: Value.Type) throws -> Value? {
        try transaction.check()
        guard let value else { return nil }
        if let value = value as? Value { return value }
        throw YapDatabaseError(
            .typeMismatch, "a hook reads a \(Value.self), the value is a \(Swift.type(of: value))",
            collection: collection, key: key)
    }
}

@available(*, unavailable) extension YapDatabaseHookChange: Sendable {}

/// The parts of a row that a write changes.
public struct YapDatabaseHookChangeKind: OptionSet, Hashable, Sendable {
    /// The set as bits.
    public let rawValue: Int

    /// Creates a set from its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The row is new. `changedObject` and `changedMetadata` are set too.
    public static let inserted = YapDatabaseHookChangeKind(rawValue: 1)
    /// The row exists, and its object, its metadata or both are set.
    public static let updated = YapDatabaseHookChangeKind(rawValue: 2)
    /// The object is set, maybe to an equal one.
    public static let changedObject = YapDatabaseHookChangeKind(rawValue: 4)
    /// The metadata is set, maybe to equal metadata or to none. `setObject` sets both.
    public static let changedMetadata = YapDatabaseHookChangeKind(rawValue: 8)
    /// The object is touched: nothing in the row changes.
    public static let touchedObject = YapDatabaseHookChangeKind(rawValue: 16)
    /// The metadata is touched: nothing in the row changes.
    public static let touchedMetadata = YapDatabaseHookChangeKind(rawValue: 32)
}
