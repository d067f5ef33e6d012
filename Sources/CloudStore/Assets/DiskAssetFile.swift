import Crypto

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file on its way into the folder.
final class DiskAssetWriter: StoredAssetWriter {
    private let files: DiskAssetStore
    private let path: String
    /// Nil when the file is finished or given up.
    private var open: Open?

    private struct Open: ~Copyable {
        let descriptor: Int32
        var hash: SHA256
        var bytes: Int64 = 0
    }

    /// Takes the descriptor over, unless it throws.
    init(_ files: DiskAssetStore, descriptor: Int32, path: String) throws {
        self.files = files
        self.path = path
        open = Open(descriptor: descriptor, hash: try SHA256())
    }

    deinit { cancel() }

    func write(_ bytes: [UInt8]) throws {
        guard open != nil else { throw CloudStoreError.failed(path: path, reason: "the file was given up") }
        do {
            try append(bytes)
            try open?.hash.update(bytes)
            open?.bytes += Int64(bytes.count)
        } catch {
            cancel()
            throw error
        }
    }

    func finish() throws -> AssetUse {
        guard let file = open.take() else {
            throw CloudStoreError.failed(path: path, reason: "the file was given up")
        }
        let descriptor = file.descriptor
        let count = file.bytes
        do {
            var times = files.timesNow
            guard futimens(descriptor, &times) == 0 else { throw DiskAssetStore.failure(path, errno) }
            try files.before(.sync)
            guard fsync(descriptor) == 0 else { throw DiskAssetStore.failure(path, errno) }
            close(descriptor)
        } catch {
            close(descriptor)
            files.discard(path)
            throw error
        }
        do {
            let digest = try file.hash.finish()
            try files.publish(path, digest)
            return AssetUse(digest: digest, bytes: count)
        } catch {
            files.discard(path)
            throw error
        }
    }

    func cancel() {
        guard let file = open.take() else { return }
        close(file.descriptor)
        files.discard(path)
    }

    private func append(_ bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            try files.before(.write)
            let descriptor = open?.descriptor ?? -1
            let count = bytes.withUnsafeBytes { buffer in
                systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[offset...]))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw DiskAssetStore.failure(path, count == 0 ? ENOSPC : errno) }
            offset += count
        }
    }
}

/// An open file of the folder. Reading at a place leaves the descriptor as it is, so threads don't disturb each other.
final class DiskAssetReader: StoredAssetReader {
    let bytes: Int64
    private let descriptor: Int32
    private let path: String
    private let before: @Sendable (DiskAssetStore.Step) throws -> Void

    init(
        descriptor: Int32, path: String, bytes: Int64,
        before: @escaping @Sendable (DiskAssetStore.Step) throws -> Void
    ) {
        self.descriptor = descriptor
        self.path = path
        self.bytes = bytes
        self.before = before
    }

    deinit { close(descriptor) }

    func read(at offset: Int64, bytesMax: Int) throws -> [UInt8] {
        try before(.read)
        var code: Int32 = 0
        let content = [UInt8](unsafeUninitializedCapacity: bytesMax) { buffer, count in
            var read = -1
            repeat {
                read = pread(descriptor, buffer.baseAddress, bytesMax, off_t(offset))
            } while read < 0 && errno == EINTR
            code = read < 0 ? errno : 0
            count = max(0, read)
        }
        guard code == 0 else { throw DiskAssetStore.failure(path, code) }
        return content
    }
}

/// `write` by another name: inside a type that has one of its own, the system's can't be called.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
