import CloudStore
import System

/// A store in memory in which a test says what happens at each `apply`.
///
/// Sendable because tests use it on one thread; `MemoryCloudStore` holds a lock around each transaction.
final class ScriptedStore: CloudStore, @unchecked Sendable {
    var onApply: (ScriptedWriter) throws -> Void = { _ in }
    private(set) var transactionsCount = 0
    private let store = MemoryCloudStore()

    func read<Result>(_ body: (any CloudStoreReader) throws -> Result) throws -> Result {
        try store.read(body)
    }

    func write<Result>(_ body: (any CloudStoreWriter) throws -> Result) throws -> Result {
        transactionsCount += 1
        return try store.write { try body(ScriptedWriter($0, onApply)) }
    }
}

final class ScriptedWriter: ForwardingStoreWriter {
    var isInTransaction = true
    /// The names of the records that were written last.
    private(set) var lastNames: [String] = []
    let base: any CloudStoreWriter
    private let onApply: (ScriptedWriter) throws -> Void

    init(_ base: any CloudStoreWriter, _ onApply: @escaping (ScriptedWriter) throws -> Void) {
        self.base = base
        self.onApply = onApply
    }

    func apply(_ changes: StoreChanges) throws {
        lastNames = changes.records.map(\.key.recordName)
        try base.apply(changes)
        try onApply(self)
    }
}
