import Crypto
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that is being written, before it is moved into the folder.
final class DiskAssetWriter: StoredAssetWriter {
    private let files: DiskAssetStore
    private let path: String
    /// Nil after the file was finished or canceled.
    private var open: Open?

    private struct Open: ~Copyable {
        let file: OpenFile
        var hash: SHA256
        var bytes: Int64 = 0
    }

    init(_ files: DiskAssetStore, _ file: OpenFile) throws {
        self.files = files
        path = file.path
        open = Open(file: file, hash: try SHA256())
    }

    deinit { cancel() }

    func write(_ bytes: [UInt8]) throws {
        guard let file = open?.file else {
            throw CloudStoreError.failed(path: path, reason: "the upload was cancelled")
        }
        do {
            try CloudStoreError.translating { try file.write(bytes) }
            try open?.hash.update(bytes)
            open?.bytes += Int64(bytes.count)
        } catch {
            cancel()
            throw error
        }
    }

    func finish() throws -> AssetUse {
        guard let open = open.take() else {
            throw CloudStoreError.failed(path: path, reason: "the upload was cancelled")
        }
        let (file, count) = (open.file, open.bytes)
        do {
            var times = files.timesNow
            try CloudStoreError.translating {
                guard futimens(file.descriptor, &times) == 0 else { throw FileError(.write, path, errno) }
                try file.sync()
            }
            let digest = try open.hash.finish()
            try files.publish(path, digest)
            return AssetUse(digest: digest, bytes: count)
        } catch {
            files.discard(path)
            throw error
        }
    }

    func cancel() {
        guard open.take() != nil else { return }
        files.discard(path)
    }
}

/// An open file of the folder. A read at an offset doesn't move the file position, so threads can read in
/// parallel.
final class DiskAssetReader: StoredAssetReader {
    let bytes: Int64
    private let file: OpenFile

    init(_ file: OpenFile) throws(FileError) {
        self.file = file
        bytes = try file.size()
    }

    func read(at offset: Int64, bytesMax: Int) throws -> [UInt8] {
        try CloudStoreError.translating { try file.read(at: offset, bytesMax: bytesMax) }
    }
}
