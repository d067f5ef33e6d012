import CloudKit
import Yap
import YapCloudKit

/// The app on a device, in one of its processes.
protocol DeviceApp: AnyObject {
    var process: Process { get }
    var database: YapDatabase { get }
    var connection: YapDatabaseConnection { get }

    /// Begins its work, after its file was opened.
    func begin() throws
    /// Whether this version of the app has such items.
    func has(_ key: String) -> Bool
    func read(_ key: String, _ transaction: YapDatabaseReadTransaction) throws -> Todo?
    func write(_ todo: Todo, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws
    func remove(_ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws
    /// All items by their keys, notes and others too.
    func todos() throws -> [String: Todo]
    /// What the person's deletions do in a transaction before; most apps do nothing.
    func prepareToDelete(_ keys: [String]) throws

    /// Fetches and sends what there is.
    func sync()
    func background()
    func foreground() throws
    /// Works with the objects of another user from now on.
    func adopt(user: Int) throws
    /// Tells the device what merges decided and it has not heard yet.
    func tellMerges()
    /// What the sync says of itself; `idle` when nothing waits.
    var status: CloudSyncStatus { get }
    /// How often a zone differed from the server's checksum; 0 where nobody compares.
    func differencesFound() throws -> Int
    /// How many change-sets are in the file and not in the cloud.
    func pendingChangeSetsCount() throws -> Int
    /// Stores a file, and returns its name in the ledger.
    func addFile(_ bytes: [UInt8]) throws -> String
    /// Begins to fetch the files that its objects have and the device hasn't.
    func fetchFiles() throws
    /// The bytes of a file, if they are on the device.
    func bytes(ofFile text: String) throws -> [UInt8]?
    /// Whether it was found that a file can't be had.
    func isNowhere(file text: String, of key: String) -> Bool
    func removeUnusedFiles() throws
    /// Whether something is under way that the status doesn't tell of.
    var isBusy: Bool { get }
}

extension DeviceApp {
    func prepareToDelete(_ keys: [String]) throws {}
    func background() {}
    func differencesFound() throws -> Int { 0 }
    func foreground() throws {}
    func addFile(_ bytes: [UInt8]) throws -> String { "" }
    func fetchFiles() throws {}
    func bytes(ofFile text: String) throws -> [UInt8]? { nil }
    func isNowhere(file text: String, of key: String) -> Bool { false }
    func removeUnusedFiles() throws {}
    func adopt(user: Int) throws {}
}
