/// A dictionary in buckets. Changing a copy copies one bucket, not all. So a transaction can keep the
/// previous value by an assignment, and the cost of a write hardly depends on the size.
struct BucketMap<Key: Hashable, Value> {
    /// Average number of entries in a bucket at which the number of buckets grows.
    private static var bucketEntriesMax: Int { 32 }
    private static var growth: Int { 8 }

    private var buckets: [[Key: Value]] = [[:]]
    private(set) var count = 0

    private func bucket(of key: Key) -> Int {
        buckets.count == 1 ? 0 : Int(UInt(bitPattern: key.hashValue) % UInt(buckets.count))
    }

    subscript(key: Key) -> Value? {
        get { buckets[bucket(of: key)][key] }
        set {
            let bucket = bucket(of: key)
            let before = buckets[bucket].count
            buckets[bucket][key] = newValue
            count += buckets[bucket].count - before
            if count > buckets.count * Self.bucketEntriesMax { grow() }
        }
    }

    /// Unsorted.
    var keys: some Sequence<Key> { buckets.lazy.flatMap(\.keys) }
    /// Unsorted.
    var values: some Sequence<Value> { buckets.lazy.flatMap(\.values) }

    var isEmpty: Bool { count == 0 }

    /// Removes the entries that don't satisfy the predicate.
    mutating func keep(where isWanted: (Value) -> Bool) {
        for index in buckets.indices where buckets[index].values.contains(where: { !isWanted($0) }) {
            count -= buckets[index].count
            buckets[index] = buckets[index].filter { isWanted($0.value) }
            count += buckets[index].count
        }
    }

    private mutating func grow() {
        let all = buckets
        buckets = Array(repeating: [:], count: all.count * Self.growth)
        for (key, value) in all.joined() { buckets[bucket(of: key)][key] = value }
    }
}
