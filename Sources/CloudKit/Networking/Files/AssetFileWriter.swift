internal import Crypto
import Foundation
internal import System

/// Writes a downloaded file next to its URL, and moves it there when it is complete.
///
/// An incomplete file is kept and continued later. The writer that continues it locks it. A concurrent
/// download of the same file, in this process or another, writes into a separate file.
final class AssetFileWriter: DownloadSink {
    private struct State {
        /// Bytes of the file before this download.
        var offset: Int64
        var bytesWritten: Int64 = 0
        var isTooLong = false
        /// True if the server sent another part than the missing one.
        var isAnotherPart = false
        /// True if the file was moved to its URL.
        var isFinished = false
        var position: Int64 { offset + bytesWritten }
    }

    private let part: FileLock
    private var file: OpenFile { part.file }
    private let partPath: String
    /// True if no later download continues the file.
    private let isOwn: Bool
    private let path: String
    private let bytes: Int64?
    private let meter: ProgressMeter
    private let state: Lock<State>

    /// Bytes of the file before this download.
    var offset: Int64 { state.withLock { $0.offset } }

    /// - Parameter bytes: size of the whole file, if known.
    /// - Throws: `CKError.internalError` if the folder can't be written to.
    init(_ url: URL, bytes: Int64?, meter: ProgressMeter) throws(CKError) {
        self.bytes = bytes
        self.meter = meter
        path = url.path
        let shared = path + ".part"
        if let lock = FileLock(shared, isNew: true) ?? FileLock(shared), lock.file.isStill(at: shared) {
            (part, partPath, isOwn) = (lock, shared, false)
        } else {
            partPath = shared + "-" + SystemRandomSource().nextUUID()
            isOwn = true
            guard let lock = FileLock(partPath, isNew: true) else {
                throw .cache(FileError(.open, partPath, errno))
            }
            part = lock
        }
        state = Lock(State(offset: (try? part.file.size()) ?? 0))
    }

    deinit { if isOwn, !state.withLock({ $0.isFinished }) { unlink(partPath) } }

    func begin(status: Int, contentRange: String?) throws {
        // The server sends the whole file, regardless of the requested range.
        if status == 200, offset > 0 { rewind() }
        guard status != 206 || isMissingPart(contentRange) else {
            rewind()
            state.withLock { $0.isAnotherPart = true }
            throw CKError.anotherPart
        }
    }

    /// Returns true if the response is the rest of the file, by a header such as `bytes 5000-9999/10000`.
    /// Checked before the first byte is written, because not every checksum detects a file that was assembled
    /// incorrectly.
    private func isMissingPart(_ contentRange: String?) -> Bool {
        let words = contentRange?.lowercased().split(separator: " ") ?? []
        guard words.count == 2, words[0] == "bytes" else { return false }
        let numbers = words[1].split(separator: "/", omittingEmptySubsequences: false)
        guard numbers.count == 2, let begin = numbers[0].split(separator: "-").first else { return false }
        return Int64(begin) == offset && (bytes == nil || numbers[1] == "*" || Int64(numbers[1]) == bytes)
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var position = state.withLock { $0.position }
        guard self.bytes.map({ position + Int64(bytes.count) <= $0 }) ?? true else {
            state.withLock { $0.isTooLong = true }
            throw CKError.anotherFile
        }
        do throws(FileError) {
            try file.write(bytes, at: position)
        } catch {
            throw CKError.cache(error)
        }
        position += Int64(bytes.count)
        state.withLock { $0.bytesWritten += Int64(bytes.count) }
        meter.count(position, of: self.bytes)
    }

    /// Discards the existing bytes, which aren't the beginning of the file.
    func rewind() {
        try? file.truncate()
        state.withLock { $0 = State(offset: 0) }
    }

    /// Bytes of the file so far.
    var byteCount: Int64 { state.withLock { $0.position } }

    /// True if the server sent more bytes than the file has, so that the rest wasn't received.
    var isTooLong: Bool { state.withLock { $0.isTooLong } }

    /// True if the server sent another part than the missing one. The earlier bytes are then deleted.
    var isAnotherPart: Bool { state.withLock { $0.isAnotherPart } }

    /// Allows the next download to continue the file. Called after the last byte.
    func end() { part.unlock() }

    /// Moves the file to its URL.
    /// - Throws: `CKError.assetNotAvailable` if it doesn't match the server's checksum; then the file is
    ///   deleted.
    func finish(checksum: String?) throws(CKError) {
        guard !isTooLong, bytes == nil || bytes == byteCount, try isWhole(checksum) else {
            unlink(partPath)
            throw .anotherFile
        }
        // Not synced: after a power failure the file has another size, which `AssetCache.prepare` detects.
        guard rename(partPath, path) == 0 else { throw .cache(FileError(.rename, path, errno)) }
        state.withLock { $0.isFinished = true }
    }

    /// Returns true if the file has this checksum in our service's form, of the SHA-256. A checksum of
    /// another kind can't be verified.
    private func isWhole(_ checksum: String?) throws(CKError) -> Bool {
        guard let checksum, let expected = Data(base64Encoded: checksum), expected.count == 21,
            expected.first == 1
        else { return true }
        do {
            var hash = try SHA256()
            var position: Int64 = 0
            while case let bytes = try file.read(at: position, bytesMax: 64 << 10), !bytes.isEmpty {
                try hash.update(bytes)
                position += Int64(bytes.count)
            }
            return try hash.finish().prefix(20).elementsEqual(expected.dropFirst())
        } catch let error as FileError {
            throw .cache(error)
        } catch {
            throw CKError(.internalError, "The file can't be hashed: \(error)")
        }
    }
}

extension CKError {
    static let anotherPart = CKError(
        .networkFailure, "The server sent another part of the file than the requested one.")
    fileprivate static let anotherFile = CKError(
        .assetNotAvailable, "The received file isn't the one of the record.")

    fileprivate static func cache(_ error: FileError) -> CKError {
        CKError(.internalError, "The file \(error.path) can't be written: \(error.reason).")
    }
}
