internal import CloudWire

/// Values of the queue that are in no table but in the rows: what was asked of the record handler, and what it said
/// when the change was queued. By the change's number, and bounded: what isn't here is asked again.
///
/// What a change says of a key never becomes another thing under the same number, so nothing here can be out of date;
/// another process may only have stored a value, or taken it out of the queue.
struct RestoredValues: Sendable {
    static let changesMax = 2_000
    static let bytesMax = 4 << 20

    private var values: [Int64: (fields: [String: Field], bytes: Int)] = [:]
    /// The changes in the order in which they came; those before `oldest` are gone.
    private var order: [Int64] = []
    private var oldest = 0
    private var bytes = 0

    /// What is known of a change.
    subscript(change: Int64) -> [String: Field]? { values[change]?.fields }

    /// All that is known, the oldest first.
    var all: [(change: Int64, fields: [String: Field])] {
        order[oldest...].compactMap { change in values[change].map { (change, $0.fields) } }
    }

    /// Adds to what is known of a change.
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

    /// Forgets a change.
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
    /// About how much memory the value takes, in bytes.
    fileprivate var roughBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes), .encryptedBytes(let bytes): bytes.count
        case .list(_, let values): values.reduce(0) { $0 + $1.roughBytes + 32 }
        case .int64, .double, .timestamp, .reference, .location, .asset: 64
        }
    }
}
