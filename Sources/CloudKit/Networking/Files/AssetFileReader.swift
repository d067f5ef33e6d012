import Foundation
internal import System

/// Reads an asset's file while it is uploaded, and detects changes of the file.
final class AssetFileReader: UploadSource {
    /// Metadata that differ if the file has changed.
    private struct Stamp: Equatable {
        var inode: UInt64
        var bytes: Int64
        /// The time of the last change. It is 0 for a read-only file, because only its date can change, not its bytes.
        var seconds: Int
        var nanoseconds: Int
    }

    private let descriptor: Int32
    private let stamp: Stamp
    private let path: String
    private let meter: ProgressMeter
    private let bytesRead = Lock<Int64>(0)

    var byteCount: Int64 { stamp.bytes }

    /// - Throws: `CKError.assetFileNotFound` if the file doesn't exist or can't be read.
    init(_ url: URL, meter: ProgressMeter) throws(CKError) {
        self.meter = meter
        path = url.path
        descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .noAssetFile(path, "\(String(cString: strerror(errno)))") }
        guard let stamp = Self.stamp(descriptor) else {
            close(descriptor)
            throw .noAssetFile(path, "it isn't a file")
        }
        self.stamp = stamp
    }

    deinit { close(descriptor) }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 {
                let all = bytesRead.withLock { bytesRead in
                    bytesRead += Int64(count)
                    return bytesRead
                }
                meter.count(all, of: byteCount)
                return count
            }
            guard errno == EINTR else { throw CKError.noAssetFile(path, String(cString: strerror(errno))) }
        }
    }

    /// True if the file is unchanged since it was opened.
    var isUnchanged: Bool { Self.stamp(descriptor) == stamp }

    private static func stamp(_ descriptor: Int32) -> Stamp? {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        let mayBeWritten = status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH) != 0
        return Stamp(
            inode: UInt64(status.st_ino), bytes: Int64(status.st_size),
            seconds: mayBeWritten ? status.st_mtim.tv_sec : 0,
            nanoseconds: mayBeWritten ? status.st_mtim.tv_nsec : 0)
    }
}

extension CKError {
    fileprivate static func noAssetFile(_ path: String, _ reason: String) -> CKError {
        CKError(.assetFileNotFound, "The asset's file \(path) can't be read: \(reason).")
    }
}
