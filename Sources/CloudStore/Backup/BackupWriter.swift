import Crypto
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a backup archive: the entries, then their checksums.
///
/// The archive gets its final name when it is complete, so an incomplete archive never has that name.
final class BackupWriter {
    let path: String
    /// Path of the archive until it is complete. The paths of other temporary files start with it.
    var draft: String { archive.file.path }
    private let archive: DraftFile
    private var file: OpenFile { archive.file }
    /// Lines for `sha256sum`, kept in a file since there may be millions.
    private let sums: OpenFile
    private var sumsBytes: Int64 = 0

    /// - Throws: `BackupError.exists`, `FileError`.
    init(path: String) throws {
        guard access(path, F_OK) != 0 else { throw BackupError.exists(path: path) }
        self.path = path
        BackupLeftovers.remove(besides: "\(path).part-\(getpid())")
        archive = try DraftFile(path)
        sums = try OpenFile("\(archive.file.path).sums", .creating(mode: 0o600))
    }

    deinit { unlink(sums.path) }

    /// Adds a file.
    func add(_ entry: BackupEntry, from source: OpenFile, progress: (BackupProgress) throws -> Void) throws {
        let bytes = try source.size()
        try add(entry, bytes: bytes) { done in
            try progress(
                BackupProgress(stage: .archiving, name: entry.name, bytes: done, bytesOfFile: bytes))
            return try source.read(bytesMax: Int(min(bytes - done, Int64(TarHeader.pieceBytes))))
        }
    }

    /// Adds bytes.
    func add(_ entry: BackupEntry, _ bytes: [UInt8]) throws {
        try add(entry, bytes: Int64(bytes.count)) { _ in bytes }
    }

    /// Completes the archive and syncs it. It still has its temporary name.
    func finish() throws {
        try sums.seek(to: 0)
        try file.write(TarHeader.blocks(of: TarHeader.Entry(name: BackupEntry.sums.name, bytes: sumsBytes)))
        while case let bytes = try sums.read(bytesMax: TarHeader.pieceBytes), !bytes.isEmpty {
            try file.write(bytes)
        }
        try file.write(TarHeader.padding(after: sumsBytes))
        try file.write([UInt8](repeating: 0, count: 2 * TarHeader.blockBytes))
        try file.sync()
    }

    /// Gives the archive its final name, unless a file with that name was created in the meantime.
    ///
    /// - Returns: The archive's size in bytes.
    func publish() throws -> Int64 {
        let bytes = try file.size()
        do throws(FileError) {
            try archive.commit(replacing: false)
        } catch {
            throw error.code == EEXIST ? BackupError.exists(path: path) : error
        }
        return bytes
    }

    private func add(_ entry: BackupEntry, bytes: Int64, next: (_ done: Int64) throws -> [UInt8]) throws {
        var hash = try SHA256()
        try file.write(TarHeader.blocks(of: TarHeader.Entry(name: entry.name, bytes: bytes)))
        var done: Int64 = 0
        while done < bytes {
            let piece = try next(done)
            guard !piece.isEmpty else {
                throw DataFolderError.failed(path: entry.name, reason: "it became shorter while it was read")
            }
            try hash.update(piece)
            try file.write(piece)
            done += Int64(piece.count)
        }
        try file.write(TarHeader.padding(after: bytes))
        let line = Array("\(Hex.text(try hash.finish()))  \(entry.name)\n".utf8)
        try sums.write(line)
        sumsBytes += Int64(line.count)
    }
}

@available(*, unavailable) extension BackupWriter: Sendable {}
