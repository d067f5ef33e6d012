/// Offsets of a map's values by their keys' bytes. A key becomes a `String` only if it is requested.
final class CBORMapIndex {
    private struct Entry {
        var keyOffset: UInt32
        var keyCount: UInt32
        var valueOffset: UInt32
        var tag: UInt32
    }

    let decoder: CBORValueDecoder
    private let entries: UnsafeMutableBufferPointer<Entry>
    /// Records each requested name, or nil.
    private let asked: AskedNames?
    /// Positions in `entries` by ascending tag, for a map that is too large for linear search.
    private var byTag: [Int] = []
    /// The entry after the one found last, because a model usually reads its keys in the order in which it wrote
    /// them.
    @exclusivity(unchecked) private var next = 0

    /// Indexes the map of `decoder`. Its keys must be valid texts and unique.
    init(_ decoder: CBORValueDecoder) throws(CBORFault) {
        self.decoder = decoder
        asked = decoder.asked
        asked?.beginMap()
        let input = decoder.input
        let (count, start) = try input.container(at: decoder.offset, major: 5)
        entries = .allocate(capacity: count)
        var position = start
        for index in 0..<count {
            let key = try input.contents(at: position, major: 3)
            let bytes = UnsafeRawBufferPointer(rebasing: input.bytes[key])
            if !CBORInput.isASCII(bytes) { _ = try input.text(at: position) }
            entries.initializeElement(
                at: index,
                to: Entry(
                    keyOffset: UInt32(key.lowerBound), keyCount: UInt32(key.count),
                    valueOffset: UInt32(key.upperBound), tag: CBORKey.tag(bytes)))
            position = try input.end(ofItemAt: key.upperBound, depth: 1)
        }
        if decoder.offset == 0 { try input.checkEnd(position) }
        try refuseDuplicates(input)
    }

    deinit {
        entries.deallocate()
    }

    /// The keys in the order of the map.
    var texts: [String] {
        asked?.addAll()
        return entries.map { String(decoding: bytes(of: $0, decoder.input), as: UTF8.self) }
    }

    /// Returns the offset of the value of `key`, or nil.
    func valueOffset(of key: UnsafeRawBufferPointer) -> Int? {
        asked?.add(key)
        let input = decoder.input
        if next < entries.count, isKey(key, of: entries[next], input) {
            next += 1
            return Int(entries[next - 1].valueOffset)
        }
        // `contains` followed by `decode` requests the same key twice.
        if next > 0, isKey(key, of: entries[next - 1], input) { return Int(entries[next - 1].valueOffset) }
        guard let found = search(key, input) else { return nil }
        next = found + 1
        return Int(entries[found].valueOffset)
    }

    private func search(_ key: UnsafeRawBufferPointer, _ input: CBORInput) -> Int? {
        let tag = CBORKey.tag(key)
        if byTag.isEmpty {
            return entries.firstIndex { $0.tag == tag && isKey(key, of: $0, input) }
        }
        var low = 0
        var high = byTag.count
        while low < high {
            let middle = (low + high) / 2
            if entries[byTag[middle]].tag < tag { low = middle + 1 } else { high = middle }
        }
        while low < byTag.count, entries[byTag[low]].tag == tag {
            if isKey(key, of: entries[byTag[low]], input) { return byTag[low] }
            low += 1
        }
        return nil
    }

    private func refuseDuplicates(_ input: CBORInput) throws(CBORFault) {
        if entries.count > CBORLimits.scannedKeysMax {
            byTag = entries.indices.sorted { entries[$0].tag < entries[$1].tag }
            for (place, index) in byTag.enumerated() {
                try refuse(entries[index], among: byTag[(place + 1)...].lazy.map { self.entries[$0] }, input)
            }
        } else {
            for index in entries.indices.dropFirst() {
                for earlier in 0..<index where entries[earlier].tag == entries[index].tag {
                    try refuse(entries[earlier], among: CollectionOfOne(entries[index]), input)
                }
            }
        }
    }

    /// Rejects `entry`'s key if `others` contains it too with the same tags.
    private func refuse(
        _ entry: Entry, among others: some Sequence<Entry>, _ input: CBORInput
    ) throws(CBORFault) {
        for other in others {
            guard other.tag == entry.tag else { return }
            guard isKey(bytes(of: other, input), of: entry, input) else { continue }
            let key = String(decoding: bytes(of: entry, input), as: UTF8.self)
            throw .malformed(offset: Int(entry.keyOffset), reason: "the key \"\(key)\" is duplicate")
        }
    }

    @inline(__always)
    private func isKey(_ key: UnsafeRawBufferPointer, of entry: Entry, _ input: CBORInput) -> Bool {
        guard key.count == Int(entry.keyCount) else { return false }
        return CBORKey.areEqual(key, bytes(of: entry, input))
    }

    @inline(__always)
    private func bytes(of entry: Entry, _ input: CBORInput) -> UnsafeRawBufferPointer {
        let start = Int(entry.keyOffset)
        let end = start + Int(entry.keyCount)
        // The input is empty once its owner has taken it back.
        guard end <= input.bytes.count else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: input.bytes[start..<end])
    }
}
