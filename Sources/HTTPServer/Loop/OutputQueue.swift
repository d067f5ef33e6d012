/// Bytes queued for a client, in pieces.
struct OutputQueue {
    private(set) var pieces = [[UInt8]]()
    /// Number of bytes of the first piece that were sent.
    private(set) var firstOffset = 0
    private(set) var byteCount = 0

    var isEmpty: Bool { byteCount == 0 }

    mutating func append(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        pieces.append(bytes)
        byteCount += bytes.count
    }

    /// Removes sent bytes, and releases the memory with the last one.
    mutating func drop(_ count: Int) {
        byteCount -= count
        if byteCount == 0 {
            pieces = []
            firstOffset = 0
            return
        }
        var rest = count + firstOffset
        var gone = 0
        while rest >= pieces[gone].count {
            rest -= pieces[gone].count
            gone += 1
        }
        if gone > 0 { pieces.removeFirst(gone) }
        firstOffset = rest
    }

    /// Copies the first bytes, up to the buffer's size.
    ///
    /// - Returns: the number of bytes copied.
    func copy(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var filled = 0
        for (index, piece) in pieces.enumerated() where filled < buffer.count {
            let bytes = index == 0 ? piece[firstOffset...] : piece[...]
            let count = min(bytes.count, buffer.count - filled)
            _ = UnsafeMutableBufferPointer(rebasing: buffer[filled...]).update(from: bytes.prefix(count))
            filled += count
        }
        return filled
    }
}
