/// The header blocks of a file in a tar archive: POSIX ustar, after a pax header if a name or a size is too long for
/// ustar.
enum TarHeader {
    static let blockBytes = 512
    /// Bytes of a file that are read or written at a time.
    static let pieceBytes = 1 << 20
    /// Maximum size of a pax header that is read. Ours have a name and a size.
    static let paxBytesMax = 4096
    static let nameBytesMax = 100
    /// Maximum value of eleven octal digits.
    private static let sizeMax: Int64 = 1 << 33 - 1

    /// An entry's name and size.
    struct Entry: Equatable {
        let name: String
        let bytes: Int64
    }

    /// Makes the header blocks of an entry. The time is always 1970, so that equal contents have equal bytes.
    static func blocks(of entry: Entry) -> [UInt8] {
        var pax: [UInt8] = []
        if entry.name.utf8.count > nameBytesMax { pax += paxRecord("path", entry.name) }
        if entry.bytes > sizeMax { pax += paxRecord("size", String(entry.bytes)) }
        let plain = block(name: entry.name, bytes: min(entry.bytes, sizeMax), type: 0x30)
        guard !pax.isEmpty else { return plain }
        let head = block(name: "PaxHeaders/next", bytes: Int64(pax.count), type: 0x78)
        return head + pax + padding(after: Int64(pax.count)) + plain
    }

    /// Makes zeros up to the next block.
    static func padding(after bytes: Int64) -> [UInt8] {
        let rest = Int(bytes % Int64(blockBytes))
        return [UInt8](repeating: 0, count: rest == 0 ? 0 : blockBytes - rest)
    }

    /// Reads a block, or returns nil for a block of zeros. Two of them end an archive.
    ///
    /// - Throws: `TarError` if the block isn't a header or was changed.
    static func parse(_ block: [UInt8]) throws -> (entry: Entry, type: UInt8)? {
        guard block.count == blockBytes else { throw TarError(reason: "it ends in a header") }
        if block.allSatisfy({ $0 == 0 }) { return nil }
        guard block[checksumPlace].elementsEqual(checksumField(of: block)),
            Array(block[257..<262]) == Array("ustar".utf8)
        else { throw TarError(reason: "a header is damaged") }
        guard let bytes = octal(block[124..<136]), bytes >= 0,
            let name = String(validating: block[0..<nameBytesMax].prefix { $0 != 0 }, as: UTF8.self)
        else { throw TarError(reason: "a header has no size or no name") }
        return (Entry(name: name, bytes: bytes), block[156])
    }

    /// Reads the fields of a pax header about the next entry.
    static func paxValues(_ bytes: [UInt8]) throws -> [String: String] {
        var values: [String: String] = [:]
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let space = rest.firstIndex(of: 0x20),
                let count = Int(String(decoding: rest[..<space], as: UTF8.self)),
                count > space - rest.startIndex + 1, count <= rest.count,
                let record = String(
                    validating: rest[(space + 1)..<(rest.startIndex + count - 1)], as: UTF8.self),
                let sign = record.firstIndex(of: "=")
            else { throw TarError(reason: "an extended header is damaged") }
            values[String(record[..<sign])] = String(record[record.index(after: sign)...])
            rest = rest.dropFirst(count)
        }
        return values
    }

    private static func block(name: String, bytes: Int64, type: UInt8) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockBytes)
        func put(_ text: some Sequence<UInt8>, at place: Int) {
            for (index, byte) in text.enumerated() { block[place + index] = byte }
        }
        put(name.utf8.prefix(nameBytesMax), at: 0)
        put(digits(0o600, 7), at: 100)
        put(digits(0, 7), at: 108)
        put(digits(0, 7), at: 116)
        put(digits(bytes, 11), at: 124)
        put(digits(0, 11), at: 136)
        block[156] = type
        put("ustar\u{0}00".utf8, at: 257)
        block.replaceSubrange(checksumPlace, with: checksumField(of: block))
        return block
    }

    private static let checksumPlace = 148..<156

    /// Returns the sum of a header's bytes, with spaces in place of the sum itself. Only one form of the number is
    /// accepted: the sum doesn't cover its own bytes, so a change to another form wouldn't be detected.
    private static func checksumField(of block: [UInt8]) -> [UInt8] {
        var sum: Int64 = 0
        for (index, byte) in block.enumerated() {
            sum += Int64(checksumPlace.contains(index) ? 0x20 : byte)
        }
        return digits(sum, 6) + [0, 0x20]
    }

    private static func digits(_ number: Int64, _ count: Int) -> [UInt8] {
        let text = String(number, radix: 8)
        return Array((String(repeating: "0", count: max(0, count - text.count)) + text).utf8)
    }

    /// Accepts digits only: a negative size would move the reader backwards.
    private static func octal(_ bytes: ArraySlice<UInt8>) -> Int64? {
        let digits = bytes.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
        guard digits.allSatisfy({ (0x30...0x37).contains($0) }) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    /// Makes `length key=value`, where the length includes itself.
    private static func paxRecord(_ key: String, _ value: String) -> [UInt8] {
        let rest = " \(key)=\(value)\n"
        var count = rest.utf8.count
        while String(count).utf8.count + rest.utf8.count != count {
            count = String(count).utf8.count + rest.utf8.count
        }
        return Array("\(count)\(rest)".utf8)
    }
}

/// The reason for which a file isn't a complete tar archive.
struct TarError: Error {
    let reason: String
}
