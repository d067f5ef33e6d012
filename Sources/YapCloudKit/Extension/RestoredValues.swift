internal import CloudWire

/// Cache of queued values that rows hold and no table has: values that the record handler returned when the change was
/// queued, or later. It is bounded, and values are found by the number of their change. Values that aren't cached are
/// requested from the record handler again.
///
/// A change's value of a key never changes under the same number, so the cache is never out of date. Another process
/// may only have stored a value, or removed it from the queue.
struct RestoredValues: Sendable {
    static let changesMax = 2_000
    static let bytesMax = 4 << 20

    private var values: [Int64: (fields: [String: Field], bytes: Int)] = [:]
    /// The changes in the order in which they were added. Those before `oldest` were removed.
    private var order: [Int64] = []
    private var oldest = 0
    private var bytes = 0

    /// Cached values of a change.
    subscript(change: Int64) -> [String: Field]? { values[change]?.fields }

    /// All cached values, the oldest first.
    var all: [(change: Int64, fields: [String: Field])] {
        order[oldest...].compactMap { change in values[change].map { (change, $0.fields) } }
    }

    /// Adds values of a change.
    mutating func add(_ fields: [String: Field], of change: Int64) {
        guard !fields.isEmpty else { return }
        if var known = values[change] {
            bytes -= known.bytes
            known.fields.merge(fields) { _, new in new }
            known.bytes = Self.roughBytes(known.fields)
            bytes += known.bytes
            values[change] = known
        } else {
            let size = Self.roughBytes(fields)
            values[change] = (fields, size)
            order.append(change)
            bytes += size
        }
        while values.count > Self.changesMax || bytes > Self.bytesMax, values.count > 1 { removeOldest() }
    }

    /// Removes the values of a change.
    mutating func remove(_ change: Int64) {
        if let known = values.removeValue(forKey: change) { bytes -= known.bytes }
        if values.isEmpty { (order, oldest) = ([], 0) }
    }

    private mutating func removeOldest() {
        while oldest < order.count {
            let change = order[oldest]
            oldest += 1
            guard let known = values.removeValue(forKey: change) else { continue }
            bytes -= known.bytes
            break
        }
        if oldest > Self.changesMax {
            order.removeFirst(oldest)
            oldest = 0
        }
    }

    private static func roughBytes(_ fields: [String: Field]) -> Int {
        fields.reduce(0) { $0 + $1.key.utf8.count + ($1.value.value?.roughBytes ?? 0) + 32 }
    }
}

extension FieldValue {
    /// Approximate size of the value in memory, in bytes.
    fileprivate var roughBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes), .encryptedBytes(let bytes): bytes.count
        case .list(_, let values): values.reduce(0) { $0 + $1.roughBytes + 32 }
        case .int64, .double, .timestamp, .reference, .location, .asset: 64
        }
    }
}
