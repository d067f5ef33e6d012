import System

/// What names a row: its collection and its key. Equal are only the same bytes, as on disk.
public struct YapCollectionKey: Hashable, Comparable, Codable, Sendable {
    /// The collection; "" is the default one.
    public var collection: String
    /// The key, unique in the collection.
    public var key: String

    /// Makes the name of a row.
    public init(collection: String, key: String) {
        self.collection = collection
        self.key = key
    }

    /// Whether both consist of the same bytes.
    public static func == (left: YapCollectionKey, right: YapCollectionKey) -> Bool {
        left.key.hasSameBytes(as: right.key) && left.collection.hasSameBytes(as: right.collection)
    }

    /// By collection, then by key, both in the order of their bytes.
    public static func < (left: YapCollectionKey, right: YapCollectionKey) -> Bool {
        if left.collection.hasSameBytes(as: right.collection) {
            return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
        }
        return left.collection.utf8.lexicographicallyPrecedes(right.collection.utf8)
    }
}
