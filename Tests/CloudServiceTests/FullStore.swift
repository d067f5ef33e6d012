import CloudStore
import System

/// A store whose disk is full when the test wants it.
final class FullStore: CloudStore {
    let isFull = Lock(false)
    private let store: any CloudStore

    init(_ store: any CloudStore = MemoryCloudStore()) {
        self.store = store
    }

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        try store.write { writer in
            let result = try body(writer)
            if isFull.withLock({ $0 }) { throw CloudStoreError.diskFull(path: "") }
            return result
        }
    }
}
