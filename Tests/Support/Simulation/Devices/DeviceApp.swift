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
    /// Whether something is under way that the status doesn't tell of.
    var isBusy: Bool { get }
}

extension DeviceApp {
    func prepareToDelete(_ keys: [String]) throws {}
    func background() {}
    func differencesFound() throws -> Int { 0 }
    func foreground() throws {}
    func adopt(user: Int) throws {}
}
