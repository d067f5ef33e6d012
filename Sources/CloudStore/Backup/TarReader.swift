import System

/// Reads a tar archive sequentially.
final class TarReader {
    private let file: OpenFile
    private let size: Int64
    /// Offset of the next header.
    private var position: Int64 = 0
    /// Bytes of the entry that are still to be read.
    private var rest: Int64 = 0
    /// Zeros after the entry.
    private var paddingBytes = 0

    init(_ file: OpenFile) throws {
        self.file = file
        size = try file.size()
        try file.seek(to: 0)
    }

    /// Returns the next entry, or nil at the end of the archive. Skips the unread rest of the current entry.
    ///
    /// - Throws: `TarError`, `FileError`.
    func next() throws -> TarHeader.Entry? {
        try file.seek(to: position)
        var pax: [String: String] = [:]
        while true {
            guard let (entry, type) = try TarHeader.parse(try take(Int64(TarHeader.blockBytes))) else {
                guard try TarHeader.parse(take(Int64(TarHeader.blockBytes))) == nil, position == size else {
                    throw TarError(reason: "it continues after its end")
                }
                return nil
            }
            if type == 0x78 {
                guard entry.bytes <= TarHeader.paxBytesMax else {
                    throw TarError(reason: "an extended header is too long")
                }
                pax = try TarHeader.paxValues(take(entry.bytes))
                try expectZeros(take(Int64(TarHeader.padding(after: entry.bytes).count)))
                continue
            }
            guard type == 0x30 else { throw TarError(reason: "\(entry.name) is no plain file") }
            return try begin(entry, pax)
        }
    }

    /// Returns the next bytes of the entry, or an empty array at its end.
    func read() throws -> [UInt8] {
        guard rest > 0 else { return [] }
        let bytes = try file.read(bytesMax: Int(min(rest, Int64(TarHeader.pieceBytes))))
        guard !bytes.isEmpty else { throw TarError(reason: "it ends in an entry") }
        rest -= Int64(bytes.count)
        if rest == 0 {
            let padding = try file.read(bytesMax: paddingBytes)
            guard padding.count == paddingBytes else { throw TarError(reason: "it ends after an entry") }
            try expectZeros(padding)
        }
        return bytes
    }

    private func expectZeros(_ padding: [UInt8]) throws {
        guard padding.allSatisfy({ $0 == 0 }) else {
            throw TarError(reason: "there is something between two entries")
        }
    }

    private func begin(_ entry: TarHeader.Entry, _ pax: [String: String]) throws -> TarHeader.Entry {
        var bytes = entry.bytes
        if let text = pax["size"] {
            guard let number = Int64(text), number >= 0 else { throw TarError(reason: "a size is no number") }
            bytes = number
        }
        let padding = Int64(TarHeader.padding(after: bytes).count)
        guard bytes >= 0, bytes <= size - position - padding else {
            throw TarError(reason: "it ends in an entry")
        }
        position += bytes + padding
        rest = bytes
        paddingBytes = Int(padding)
        return TarHeader.Entry(name: pax["path"] ?? entry.name, bytes: bytes)
    }

    /// Reads the bytes of headers.
    private func take(_ count: Int64) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            let piece = try file.read(bytesMax: Int(count) - bytes.count)
            guard !piece.isEmpty else { throw TarError(reason: "it has no end") }
            bytes += piece
        }
        position += count
        return bytes
    }
}

@available(*, unavailable) extension TarReader: Sendable {}
