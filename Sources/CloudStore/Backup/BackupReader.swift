import Crypto
import System

/// Reads a backup archive, and trusts only what its checksums confirm.
struct BackupReader {
    let path: String
    let file: OpenFile

    init(path: String) throws {
        self.path = path
        file = try OpenFile(path, .reading)
    }

    /// An event while reading an archive.
    enum Event {
        case begin(BackupEntry, bytes: Int64)
        case piece([UInt8])
        /// The entry matched its checksum.
        case end
    }

    /// Reads the whole archive and compares it with its checksums.
    ///
    /// - Throws: `BackupError`, `FileError`, what `body` throws.
    func forEach(_ body: (Event) throws -> Void) throws {
        do {
            let lines = try SumLines(path: path)
            let reader = try TarReader(file)
            while let found = try reader.next() {
                guard let entry = BackupEntry(found.name) else {
                    throw TarError(reason: "\(found.name) doesn't belong into a backup")
                }
                if entry == .sums {
                    guard try lines.next() == nil, try reader.next() == nil else {
                        throw TarError(reason: "its checksums are of more or fewer files")
                    }
                    return
                }
                try body(.begin(entry, bytes: found.bytes))
                var hash = try SHA256()
                while case let piece = try reader.read(), !piece.isEmpty {
                    try hash.update(piece)
                    try body(.piece(piece))
                }
                guard try lines.next() == "\(Hex.text(try hash.finish()))  \(found.name)" else {
                    throw TarError(reason: "\(found.name) doesn't match its checksum")
                }
                try body(.end)
            }
            throw TarError(reason: "its checksums are missing")
        } catch let error as TarError {
            throw BackupError.damaged(path: path, reason: error.reason)
        }
    }

    /// Compares all entries with the checksums, and returns a summary of the archive.
    func check(progress: (BackupProgress) throws -> Void) throws -> BackupSummary {
        var summary = BackupSummary()
        var format: [UInt8] = []
        var seen = Set<BackupEntry>()
        var current = (entry: BackupEntry.format, bytes: Int64(0), done: Int64(0))
        try forEach { event in
            switch event {
            case .begin(let entry, let bytes):
                current = (entry, bytes, 0)
                // There may be too many files of records to remember them all.
                if case .asset = entry {
                    summary.assets += 1
                } else if !seen.insert(entry).inserted {
                    throw TarError(reason: "\(entry.name) is in it twice")
                }
                if case .store = entry { summary.environments += 1 }
                if entry == .settings { summary.hasSettings = true }
                guard entry != .format || bytes <= BackupEntry.formatBytesMax else {
                    throw TarError(reason: "its FORMAT is too long")
                }
            case .piece(let piece):
                if current.entry == .format { format += piece }
                current.done += Int64(piece.count)
            // Checked before the entries that a newer version may have added after it.
            case .end: if current.entry == .format { summary.createdMilliseconds = try read(format: format) }
            }
            try progress(
                BackupProgress(
                    stage: .checking, name: current.entry.name, bytes: current.done,
                    bytesOfFile: current.bytes
                ))
        }
        guard seen.contains(.format) else {
            throw BackupError.damaged(path: path, reason: "it isn't an archive of yap backup")
        }
        guard seen.contains(.control) else {
            throw BackupError.damaged(path: path, reason: "it has no control file")
        }
        summary.archiveBytes = try file.size()
        return summary
    }

    private func read(format: [UInt8]) throws -> Int64 {
        var values: [Substring: Int64] = [:]
        for line in String(decoding: format, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2 { values[words[0]] = Int64(words[1]) }
        }
        guard let version = values["yap-backup"], let created = values["created"] else {
            throw BackupError.damaged(path: path, reason: "it isn't an archive of yap backup")
        }
        guard version <= BackupEntry.formatVersion else {
            throw BackupError.newerFormat(path: path, version: Int(version))
        }
        return created
    }
}

/// The lines of an archive's checksums, in order.
private final class SumLines {
    /// Size of a checksum with the longest name.
    private static let lineBytesMax = 1_024

    private let reader: TarReader
    private var bytes: [UInt8] = []
    private var start = 0

    init(path: String) throws {
        reader = try TarReader(OpenFile(path, .reading))
        while let entry = try reader.next() {
            if entry.name == BackupEntry.sums.name { return }
        }
        throw TarError(reason: "its checksums are missing, as when the copy was cut short")
    }

    func next() throws -> String? {
        while true {
            if let end = bytes[start...].firstIndex(of: 0x0A) {
                defer { start = end + 1 }
                return String(decoding: bytes[start..<end], as: UTF8.self)
            }
            guard bytes.count - start <= Self.lineBytesMax else {
                throw TarError(reason: "a line of its checksums is too long")
            }
            let piece = try reader.read()
            guard !piece.isEmpty else {
                guard start == bytes.count else { throw TarError(reason: "its checksums end in a line") }
                return nil
            }
            bytes = bytes[start...] + piece
            start = 0
        }
    }
}
