import System

/// Identifies a row by collection and key. Two are equal only if their bytes are equal, as on disk.
public struct YapCollectionKey: Hashable, Comparable, Codable, Sendable {
    /// The collection; "" is the default one.
    public var collection: String
    /// The key, unique in the collection.
    public var key: String

    /// Creates the identifier of a row.
    ///
    /// - Parameters:
    ///   - collection: The collection; "" is the default one.
    ///   - key: The key.
    public init(collection: String, key: String) {
        self.collection = collection
        self.key = key
    }

    /// Returns true if both consist of the same bytes.
    public static func == (left: YapCollectionKey, right: YapCollectionKey) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.collection.hasSameBytes(as: right.collection)
    }

    /// Orders by collection, then by key, both by their bytes.
    public static func < (left: YapCollectionKey, right: YapCollectionKey) -> Bool {
        if left.collection.hasSameBytes(as: right.collection) {
            return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }
        return left.collection.utf8.lexicographicallyPrecedes(right.collection.utf8)
    }
}
