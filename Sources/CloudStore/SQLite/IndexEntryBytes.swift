/// A record's entries in one row. `docs/DISK_FORMAT.md` describes the layout.
enum IndexEntryBytes {
    /// Encodes for each entry the field, the kind as a byte, and the value. Field and value follow their length.
    static func encode(_ entries: [StoredIndexEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in entries {
            append(Array(entry.field.utf8), to: &bytes)
            bytes.append(UInt8(truncatingIfNeeded: entry.kind.rawValue))
            append(entry.value, to: &bytes)
        }
        return bytes
    }

    /// Returns nil for bytes that `encode` can't have written.
    static func decode(_ bytes: [UInt8]) -> [StoredIndexEntry]? {
        var entries: [StoredIndexEntry] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let field = take(&rest), let code = rest.popFirst(),
                let kind = StoredIndexEntry.Kind(rawValue: Int64(code)),
                let value = take(&rest)
            else { return nil }
            entries.append(
                StoredIndexEntry(
                    field: String(decoding: field, as: UTF8.self), kind: kind, value: Array(value)))
        }
        return entries
    }

    /// Returns the entries that are in `entries` but not in `others`. Both are sorted.
    static func difference(_ entries: [StoredIndexEntry], _ others: [StoredIndexEntry]) -> [StoredIndexEntry]
    {
        var difference: [StoredIndexEntry] = []
        var index = 0
        for entry in entries {
            while index < others.count, others[index] < entry { index += 1 }
            if index == others.count || others[index] != entry { difference.append(entry) }
        }
        return difference
    }

    private static func append(_ part: [UInt8], to bytes: inout [UInt8]) {
        var length = part.count
        while length >= 0x80 {
            bytes.append(UInt8(length & 0x7F) | 0x80)
            length >>= 7
        }
        bytes.append(UInt8(length))
        bytes += part
    }

    private static func take(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var length = 0
        var shift = 0
        while true {
            guard let byte = rest.popFirst(), shift < 28 else { return nil }
            length |= Int(byte & 0x7F) << shift
            shift += 7
            if byte < 0x80 { break }
        }
        guard length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(length) }
        return rest.prefix(length)
    }
}
