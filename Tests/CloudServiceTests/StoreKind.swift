import CloudStore
import SQLiteTestSupport
import StoreAudit

/// The stores that a test of the service runs on.
enum StoreKind: String, CaseIterable {
    case memory
    case sqlite = "SQLite"

    /// A fresh store, in `folder` if it needs one.
    func make(in folder: TemporaryFolder) throws -> any CloudStore {
        switch self {
        case .memory: MemoryCloudStore()
        case .sqlite: try SQLiteCloudStore(path: folder.file("store.db"))
        }
    }

    /// Where the file of the store in `folder` doesn't agree with itself.
    func findings(in folder: TemporaryFolder) throws -> [String] {
        self == .memory ? [] : try StoreAudit.findings(path: folder.file("store.db"))
    }
}
