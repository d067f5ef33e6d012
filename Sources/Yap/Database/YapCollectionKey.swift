/// What names a row: its collection and its key.
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

    /// By collection, then by key.
    public static func < (left: YapCollectionKey, right: YapCollectionKey) -> Bool {
        (left.collection, left.key) < (right.collection, right.key)
    }
}
