/// Bounded cache of the decoded rows of one collection in one connection.
///
/// It uses second chance instead of strict LRU: a hit sets one bit, where a list would write four links.
struct RowCache {
    struct Entry {
        let key: String
        var rowID: Int64
        var object: CachedValue?
        var metadata: CachedMetadata
        var wasUsed: Bool
    }

    let rowsMax: Int
    private var slots: [ExactString: Int] = [:]
    private var entries: [Entry] = []
    private var hand = 0

    init(rowsMax: Int) {
        self.rowsMax = rowsMax
    }

    var isEmpty: Bool { entries.isEmpty }
    var rowsCount: Int { entries.count }

    mutating func entry(_ key: String) -> Entry? {
        guard !entries.isEmpty, let slot = slots[ExactString(key)] else { return nil }
        entries[slot].wasUsed = true
        return entries[slot]
    }

    mutating func object(_ key: String) -> CachedValue? {
        guard let slot = slots[ExactString(key)] else { return nil }
        entries[slot].wasUsed = true
        return entries[slot].object
    }

    /// Changes the entry of `key`, if it exists.
    mutating func update(_ key: String, _ change: (inout Entry) -> Void) {
        guard let slot = slots[ExactString(key)] else { return }
        change(&entries[slot])
    }

    /// Changes the entry of `key`, or creates it, which may evict another one.
    mutating func insert(_ key: String, rowID: Int64, _ change: (inout Entry) -> Void) {
        guard rowsMax > 0 else { return }
        if let slot = slots[ExactString(key)] {
            entries[slot].rowID = rowID
            return change(&entries[slot])
        }
        var entry = Entry(key: key, rowID: rowID, object: nil, metadata: .unknown, wasUsed: false)
        change(&entry)
        if entries.count < rowsMax {
            slots[ExactString(key)] = entries.count
            entries.append(entry)
            return
        }
        while entries[hand].wasUsed {
            entries[hand].wasUsed = false
            hand = (hand + 1) % entries.count
        }
        slots[ExactString(entries[hand].key)] = nil
        slots[ExactString(key)] = hand
        entries[hand] = entry
        hand = (hand + 1) % entries.count
    }

    mutating func remove(_ key: String) {
        guard let slot = slots.removeValue(forKey: ExactString(key)) else { return }
        let last = entries.removeLast()
        if slot < entries.count {
            entries[slot] = last
            slots[ExactString(last.key)] = slot
        }
        if hand >= entries.count { hand = 0 }
    }

    mutating func removeAll() {
        slots = [:]
        entries = []
        hand = 0
    }

    /// Updates the entry of `key`, if it exists, for a commit's change of the row.
    mutating func apply(_ change: RowChangeRecord, key: String) {
        guard !entries.isEmpty else { return }
        if change.flags.contains(.removed) { return remove(key) }
        update(key) { entry in
            entry.rowID = change.rowID
            if change.flags.contains(.object) { entry.object = change.object }
            if change.flags.contains(.metadata) { entry.metadata = change.metadata }
        }
    }
}
