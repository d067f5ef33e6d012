import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import SQLite
import System
import Yap

@testable import YapCloudKit

/// A book, which belongs to a shelf.
struct ShelvedBook: CloudModel, Equatable {
    var title = ""
    var shelf: String?
    var genre: String?

    static let recordType = "book"
    static let fields = CloudFields<ShelvedBook> {
        $0.field(\.title)
        $0.field(\.shelf)
        $0.field(\.genre)
    }
}

/// A shelf or a genre.
struct Shelf: CloudModel, Equatable {
    var name = ""

    static let recordType = "shelf"
    static let fields = CloudFields<Shelf> { $0.field(\.name) }
}

/// A device whose books go with their shelf, and whose genres with their last book. On the test's own thread.
final class ShelfDevice {
    let device: TestDevice
    let path: String
    private let cloud: TestCloud
    private let hasRules: Bool
    private(set) var database: YapDatabase
    private(set) var sync: CloudSync
    private(set) var library: YapDatabaseRelationship
    let log = Lock<[CloudMergeLogEntry]>([])

    /// - Parameter hasRules: False for a version of the app that has no relationship.
    init(_ cloud: TestCloud, hasRules: Bool = true, device: TestDevice? = nil) throws {
        self.cloud = cloud
        self.hasRules = hasRules
        self.device = device ?? cloud.device(user: "ada")
        path = NSTemporaryDirectory() + "yap-shelf-" + UUID().uuidString + ".db"
        (database, sync, library) = try Self.open(path, self.device, cloud, hasRules)
        observe()
    }

    deinit {
        try? database.blocking.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }

    private static func open(_ path: String, _ device: TestDevice, _ cloud: TestCloud, _ hasRules: Bool)
        throws -> (YapDatabase, CloudSync, YapDatabaseRelationship)
    {
        let database = try YapDatabase(path: path) {
            $0.register(ShelvedBook.self, inCollection: "books")
            $0.register(Shelf.self, inCollection: "shelves")
        }
        let library = YapDatabaseRelationship("library", version: "1") {
            $0.edge(
                "shelf", \ShelvedBook.shelf, in: "books", to: "shelves",
                rules: .deleteSourceIfDestinationDeleted)
            $0.edge(
                "genre", \ShelvedBook.genre, in: "books", to: "shelves",
                rules: .deleteDestinationIfAllSourcesDeleted)
        }
        if hasRules { try database.blocking.register(library) }
        let sync = try CloudSync(
            database, container: device.container,
            models: [
                .model(ShelvedBook.self, collection: "books"), .model(Shelf.self, collection: "shelves"),
            ],
            zone: "library", scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 50 + UInt64(device.number)))
        return (database, sync, library)
    }

    private func observe() { sync.observeMergeLog { [log] entries in log.withLock { $0 += entries } } }

    func relaunch() throws {
        try database.blocking.close()
        (database, sync, library) = try Self.open(path, device, cloud, hasRules)
        observe()
    }

    func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try database.newConnection().blocking.readWrite(body)
    }

    func set(_ books: [String: ShelvedBook] = [:], shelves: [String] = []) throws {
        try write { transaction in
            for (key, book) in books.sorted(by: { $0.key < $1.key }) {
                try transaction.setObject(book, forKey: key, inCollection: "books")
            }
            for key in shelves {
                try transaction.setObject(Shelf(name: key), forKey: key, inCollection: "shelves")
            }
        }
    }

    func keys(_ collection: String) throws -> [String] {
        try database.newConnection().blocking.read { try $0.allKeys(inCollection: collection).sorted() }
    }

    func queue() throws -> [YDBCKChangeSet] {
        try database.newConnection().blocking.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).pendingChangeSets()
        }
    }

    /// Whether more pages are to come, as the file has it.
    func isFetching() throws -> Bool {
        try database.newConnection().blocking.read { transaction in
            try transaction.sqlite.withStatement(
                "SELECT 1 FROM yap2 WHERE key LIKE 'moreRows/%' AND data = x'31'"
            ) {
                try $0.step()
            }
        }
    }

    /// Fetches one page and then has no network until `goOn`.
    func fetchOnePage() {
        let pages = Lock(0)
        cloud.networkFault = { request in
            guard request.path.hasSuffix("changes/zone") else { return .none }
            return pages.withLock { count in
                count += 1
                return count == 1 ? .none : .loseRequest
            }
        }
        sync.syncNowInline()
    }

    func goOn() {
        cloud.networkFault = nil
        cloud.clock.advance(bySeconds: 400)
        sync.syncNowInline()
    }
}
