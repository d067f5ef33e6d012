import Crypto
import System

/// Files in memory, for tests and experiments. They are lost when the process ends.
package final class MemoryAssetStore: AssetStore {
    private struct File {
        var bytes: [UInt8]
        var atMilliseconds: Int64
    }

    private let files = Lock<[[UInt8]: File]>([:])
    private let clock: any TimeSource

    /// Makes an empty store. `clock` gives the times of the files.
    package init(clock: any TimeSource) {
        self.clock = clock
    }

    /// Starts a file. See `AssetStore`.
    package func begin() -> any StoredAssetWriter { Writer(self) }

    /// Opens a file. See `AssetStore`.
    package func open(_ digest: [UInt8]) -> (any StoredAssetReader)? {
        files.withLock { $0[digest].map { Reader(content: $0.bytes) } }
    }

    /// Sets a file's time to now. See `AssetStore`.
    package func renew(_ digest: [UInt8]) -> Bool {
        let now = clock.nowMilliseconds()
        return files.withLock { files in
            guard files[digest] != nil else { return false }
            files[digest]?.atMilliseconds = now
            return true
        }
    }

    /// Returns a page of the files. See `AssetStore`.
    package func files(after: [UInt8]?, filesMax: Int) -> [AssetFileEntry] {
        files.withLock { files in
            files.filter { file in after.map { $0.lexicographicallyPrecedes(file.key) } ?? true }
                .sorted { $0.key.lexicographicallyPrecedes($1.key) }
                .prefix(filesMax)
                .map {
                    AssetFileEntry(
                        digest: $0.key, bytes: Int64($0.value.bytes.count),
                        atMilliseconds: $0.value.atMilliseconds)
                }
        }
    }

    /// Removes a file. See `AssetStore`.
    package func remove(_ digest: [UInt8], ifOlderThan milliseconds: Int64) -> Bool {
        files.withLock { files in
            guard let file = files[digest], file.atMilliseconds < milliseconds else { return false }
            files[digest] = nil
            return true
        }
    }

    /// Always allows the collection.
    package func holdForCollection() -> (any AnyObject & Sendable)? { self }

    private func keep(_ bytes: [UInt8], as digest: [UInt8]) {
        let file = File(bytes: bytes, atMilliseconds: clock.nowMilliseconds())
        files.withLock { $0[digest] = file }
    }

    private final class Writer: StoredAssetWriter {
        private let files: MemoryAssetStore
        private var content: [UInt8] = []

        init(_ files: MemoryAssetStore) {
            self.files = files
        }

        func write(_ bytes: [UInt8]) { content += bytes }

        func finish() throws -> AssetUse {
            let digest = try SHA256.hash(content)
            files.keep(content, as: digest)
            return AssetUse(digest: digest, bytes: Int64(content.count))
        }

        func cancel() { content = [] }
    }

    private struct Reader: StoredAssetReader {
        let content: [UInt8]

        var bytes: Int64 { Int64(content.count) }

        func read(at offset: Int64, bytesMax: Int) -> [UInt8] {
            Array(content.dropFirst(Int(clamping: max(0, offset))).prefix(bytesMax))
        }
    }
}
