internal import Crypto
import Foundation
internal import Seams

/// Writes a file that comes in beside its place, and puts it there when it is whole.
///
/// What has come stays when the rest doesn't, and is gone on with later.
final class AssetFileWriter: FileSink {
    private let descriptor: Int32
    private let partPath: String
    private let path: String
    /// Bytes that were there before.
    let offset: Int64
    private let bytes: Int64?
    private let meter: FileMeter
    private let bytesWritten = Lock<Int64>(0)

    /// - Parameter bytes: of the whole file, where that is known.
    /// - Throws: `CKError.internalError` when the folder can't be written to.
    init(_ url: URL, bytes: Int64?, meter: FileMeter) throws(CKError) {
        self.bytes = bytes
        self.meter = meter
        path = url.path
        partPath = path + ".part"
        descriptor = open(partPath, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .cache(partPath) }
        offset = Int64(lseek(descriptor, 0, SEEK_END))
    }

    deinit { close(descriptor) }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CKError.cache(partPath) }
            rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        }
        let written = bytesWritten.withLock { bytesWritten in
            bytesWritten += Int64(bytes.count)
            return bytesWritten
        }
        meter.count(offset + written, of: self.bytes)
    }

    /// Takes away what came since `offset`: it was no part of the file.
    func rewind(to offset: Int64) {
        _ = ftruncate(descriptor, off_t(offset))
    }

    /// Puts the file in its place.
    /// - Throws: `CKError.assetNotAvailable` when it isn't what the server names; then nothing of it is left.
    func finish(bytes: Int64?, checksum: String?) throws(CKError) {
        let count = Int64(lseek(descriptor, 0, SEEK_END))
        guard bytes == nil || bytes == count, try isWhole(checksum) else {
            unlink(partPath)
            throw CKError(.assetNotAvailable, "The file that came isn't the one that the record names.")
        }
        guard rename(partPath, path) == 0 else { throw .cache(path) }
    }

    /// Whether the file has this checksum: as our service makes them, of the SHA-256. One of another kind says nothing
    /// that could be looked at.
    private func isWhole(_ checksum: String?) throws(CKError) -> Bool {
        guard let checksum, let expected = Data(base64Encoded: checksum), expected.count == 21,
            expected.first == 1
        else { return true }
        do {
            var hash = try SHA256()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            var position: off_t = 0
            while true {
                let count = buffer.withUnsafeMutableBytes {
                    pread(descriptor, $0.baseAddress, $0.count, position)
                }
                guard count >= 0 else { throw CKError.cache(partPath) }
                guard count > 0 else { break }
                try buffer.withUnsafeBytes { try hash.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                position += off_t(count)
            }
            return try hash.finish().prefix(20).elementsEqual(expected.dropFirst())
        } catch let error as CKError {
            throw error
        } catch {
            throw CKError(.internalError, "The file can't be hashed: \(error)")
        }
    }
}

extension CKError {
    fileprivate static func cache(_ path: String) -> CKError {
        CKError(
            .internalError, "The file \(path) can't be written: \(String(cString: strerror(errno))).")
    }
}
