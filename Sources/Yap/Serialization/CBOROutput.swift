/// The bytes of one value while they are written: RFC 8949 with definite lengths and the shortest heads.
final class CBOROutput {
    /// Begin of an entry of an open map (or of an unordered collection).
    struct Entry {
        var offset: Int
        var tag: UInt32
    }

    @exclusivity(unchecked) private(set) var base: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var capacity: Int

    /// The entries of all open maps, those of the innermost last.
    @exclusivity(unchecked) var entries: [Entry] = []

    /// The encoder that may write now: see `CBORValueEncoder.requireOpen`.
    @exclusivity(unchecked) var openSerial = 0
    @exclusivity(unchecked) private var lastSerial = 0

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(byteCount: capacity, alignment: 16)
        entries.reserveCapacity(CBORLimits.scannedKeysMax)
    }

    deinit {
        base.deallocate()
    }

    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base, count: count)
    }

    func nextSerial() -> Int {
        lastSerial += 1
        return lastSerial
    }

    /// Removes everything written from `count` on.
    func truncate(to count: Int) {
        self.count = count
        while let last = entries.last, last.offset >= count { entries.removeLast() }
    }

    // MARK: Items

    @inline(__always)
    func write(_ value: Bool) {
        reserve(1)
        putByte(value ? 0xF5 : 0xF4)
    }

    func writeNull() {
        reserve(1)
        putByte(0xF6)
    }

    @inline(__always)
    func write(_ value: Int64) {
        if value >= 0 {
            writeHead(0x00, UInt64(value))
        } else {
            writeHead(0x20, UInt64(~value))
        }
    }

    @inline(__always)
    func write(_ value: UInt64) {
        writeHead(0x00, value)
    }

    @inline(__always)
    func write(_ value: Double) {
        reserve(9)
        putByte(0xFB)
        putWord(value.bitPattern)
    }

    func write(_ value: Float) {
        reserve(5)
        putByte(0xFA)
        putWord(value.bitPattern)
    }

    /// Writes a text string. Returns the range of its UTF-8 bytes.
    @discardableResult
    func write(_ value: String) -> Range<Int> {
        var value = value
        return value.withUTF8 { write(text: UnsafeRawBufferPointer($0)) }
    }

    private func write(text: UnsafeRawBufferPointer) -> Range<Int> {
        writeHead(0x60, UInt64(text.count))
        return append(text)
    }

    func write(bytes: UnsafeRawBufferPointer) {
        writeHead(0x40, UInt64(bytes.count))
        append(bytes)
    }

    /// Writes an encoded item.
    func write(item: UnsafeRawBufferPointer) {
        append(item)
    }

    /// Writes a major type (in the upper three bits) and its argument.
    @inline(__always)
    func writeHead(_ major: UInt8, _ argument: UInt64) {
        reserve(9)
        if argument < 24 {
            putByte(major | UInt8(truncatingIfNeeded: argument))
        } else {
            writeLongHead(major, argument)
        }
    }

    private func writeLongHead(_ major: UInt8, _ argument: UInt64) {
        if argument <= 0xFF {
            putByte(major | 24)
            putByte(UInt8(truncatingIfNeeded: argument))
        } else if argument <= 0xFFFF {
            putByte(major | 25)
            putWord(UInt16(truncatingIfNeeded: argument))
        } else if argument <= 0xFFFF_FFFF {
            putByte(major | 26)
            putWord(UInt32(truncatingIfNeeded: argument))
        } else {
            putByte(major | 27)
            putWord(argument)
        }
    }

    // MARK: Containers

    /// Reserves the one byte that most maps and arrays need for their head; `closeHead` fills it.
    func openHead() -> Int {
        reserve(1)
        count += 1
        return count - 1
    }

    /// Writes the head at `offset`, and moves the following bytes if the length takes more than the reserved byte.
    func closeHead(at offset: Int, major: UInt8, length: Int) {
        let end = count
        if length >= 24 {
            let extra = length <= 0xFF ? 1 : length <= 0xFFFF ? 2 : 4
            insertGap(at: offset + 1, byteCount: extra)
        }
        let grown = count
        count = offset
        writeHead(major, UInt64(length))
        count = max(grown, end)
    }

    /// Inserts bytes at `offset`, and moves the following bytes.
    func insert(_ inserted: UnsafeRawBufferPointer, at offset: Int) {
        insertGap(at: offset, byteCount: inserted.count)
        UnsafeMutableRawBufferPointer(start: base + offset, count: inserted.count).copyMemory(from: inserted)
    }

    private func insertGap(at offset: Int, byteCount: Int) {
        reserve(byteCount)
        (base + offset + byteCount).copyMemory(from: base + offset, byteCount: count - offset)
        count += byteCount
    }

    /// Sorts the bytes from the first of `entries[start...]` to the end by their entries' encoded bytes.
    ///
    /// That is RFC 8949's bytewise order of keys, because no encoded key is a prefix of another.
    func sortEntries(from start: Int) {
        guard entries.count - start > 1 else { return }
        var spans: [UnsafeRawBufferPointer] = []
        spans.reserveCapacity(entries.count - start)
        for index in start..<entries.count {
            let begin = entries[index].offset
            let end = index + 1 < entries.count ? entries[index + 1].offset : count
            spans.append(UnsafeRawBufferPointer(start: base + begin, count: end - begin))
        }
        spans.sort { $0.lexicographicallyPrecedes($1) }
        let sorted = spans.flatMap { $0 }
        sorted.withUnsafeBytes {
            guard let source = $0.baseAddress else { return }
            (base + entries[start].offset).copyMemory(from: source, byteCount: $0.count)
        }
    }

    /// Returns the text of a duplicate key in `entries[start...]`, all of which begin with a text string.
    func duplicateKey(from start: Int) -> String? {
        let number = entries.count - start
        guard number > 1 else { return nil }
        if number <= CBORLimits.scannedKeysMax {
            return entries.withUnsafeBufferPointer { entries in
                for later in start + 1..<entries.count {
                    for earlier in start..<later where entries[earlier].tag == entries[later].tag {
                        if isSameKey(entries[earlier], entries[later]) { return keyText(entries[later]) }
                    }
                }
                return nil
            }
        }
        let sorted = entries[start...].sorted { $0.tag < $1.tag }
        for (index, entry) in sorted.enumerated() {
            var other = index + 1
            while other < sorted.count, sorted[other].tag == entry.tag {
                if isSameKey(entry, sorted[other]) { return keyText(entry) }
                other += 1
            }
        }
        return nil
    }

    /// Compares by bytes, as the decoder does: Swift's `==` would consider two spellings of an accented letter equal.
    private func isSameKey(_ a: Entry, _ b: Entry) -> Bool {
        CBORKey.areEqual(keyBytes(a), keyBytes(b))
    }

    private func keyText(_ entry: Entry) -> String {
        String(decoding: keyBytes(entry), as: UTF8.self)
    }

    private func keyBytes(_ entry: Entry) -> UnsafeRawBufferPointer {
        let range = try? CBORInput(bytes).contents(at: entry.offset, major: 3)
        return UnsafeRawBufferPointer(rebasing: bytes[range ?? 0..<0])
    }

    // MARK: Raw bytes

    @discardableResult
    private func append(_ appended: UnsafeRawBufferPointer) -> Range<Int> {
        reserve(appended.count)
        let start = count
        if let source = appended.baseAddress {
            (base + start).copyMemory(from: source, byteCount: appended.count)
        }
        count += appended.count
        return start..<count
    }

    @inline(__always)
    private func putByte(_ byte: UInt8) {
        base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    @inline(__always)
    private func putWord<Word: FixedWidthInteger>(_ word: Word) {
        base.storeBytes(of: word.bigEndian, toByteOffset: count, as: Word.self)
        count += MemoryLayout<Word>.size
    }

    @inline(__always)
    private func reserve(_ extra: Int) {
        if capacity - count < extra { grow(extra) }
    }

    @inline(never)
    private func grow(_ extra: Int) {
        let larger = max(capacity * 2, count + extra)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        moved.copyMemory(from: base, byteCount: count)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
