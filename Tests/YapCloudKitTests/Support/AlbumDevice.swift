import CloudKit
import CloudKitTesting
import Foundation
import System
import Yap

@testable import YapCloudKit

/// A model with files of each kind.
struct Album: CloudModel, Equatable {
    var title = ""
    var cover: CloudFile?
    var pages: [CloudFile] = []
    var scan: CloudFile?

    static let recordType = "album"
    static let fields = CloudFields<Album> {
        $0.field(\.title)
        $0.field(\.cover)
        $0.field(\.pages)
        $0.field(\.scan, fetched: .onRequest)
    }
}

/// What stays on the device, with a file in it.
struct AlbumDraft: Codable, Sendable {
    var notes: [String: CloudFile] = [:]
}

/// A device with albums, on the test's own thread.
final class AlbumDevice {
    let device: TestDevice
    let path: String
    private let cloud: TestCloud
    private let random: any RandomSource
    private(set) var database: YapDatabase
    private(set) var sync: CloudSync
    let log = Lock<[CloudMergeLogEntry]>([])

    /// How the collection of drafts is registered.
    enum Drafts {
        case registered, inAFormOfItsOwn, unregistered
    }

    init(_ cloud: TestCloud, user: String = "ada", drafts: Drafts = .registered) throws {
        self.cloud = cloud
        device = cloud.device(user: user)
        random = SeededRandomSource(seed: 40 + UInt64(device.number))
        path = NSTemporaryDirectory() + "yap-album-" + UUID().uuidString + ".db"
        (database, sync) = try Self.open(path, device, cloud, random, drafts)
        observe()
    }

    deinit {
        try? database.blocking.close()
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func open(
        _ path: String, _ device: TestDevice, _ cloud: TestCloud, _ random: any RandomSource,
        _ drafts: Drafts = .registered, zone: String? = nil
    ) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) {
            $0.register(Album.self, inCollection: "albums")
            switch drafts {
            case .registered: $0.register(AlbumDraft.self, inCollection: "drafts")
            case .inAFormOfItsOwn:
                $0.register(AlbumDraft.self, serializer: .turned(), inCollection: "drafts")
            case .unregistered: break
            }
        }
        let sync = try CloudSync(
            database, container: device.container,
            models: [.model(Album.self, collection: "albums", zone: zone)],
            zone: "albums", scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: random)
        return (database, sync)
    }

    private func observe() {
        sync.observeMergeLog { [log] entries in log.withLock { $0 += entries } }
    }

    func relaunch(drafts: Drafts = .registered, zone: String? = nil) throws {
        try database.blocking.close()
        (database, sync) = try Self.open(path, device, cloud, random, drafts, zone: zone)
        observe()
    }

    /// The folder of the files.
    var folder: String { path + "-cloudKit.files" }

    var fileFolder: FileFolder {
        FileFolder(
            CloudFilePaths(database: path, registeredName: "cloudKit"), files: DiskAssetFiles(),
            random: random)
    }

    /// The names in it, without the lock.
    var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).filter { $0 != ".lock" }
            .sorted()
    }

    func write(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try database.newConnection().blocking.readWrite(body)
    }

    func edit(_ key: String = "1", _ change: (inout Album) -> Void) throws {
        try write { transaction in
            var album = try transaction.object(Album.self, forKey: key, inCollection: "albums") ?? Album()
            change(&album)
            try transaction.setObject(album, forKey: key, inCollection: "albums")
        }
    }

    func remove(_ key: String = "1") throws {
        try write { try $0.removeObject(forKey: key, inCollection: "albums") }
    }

    func album(_ key: String = "1") throws -> Album? {
        try database.newConnection().blocking.read {
            try $0.object(Album.self, forKey: key, inCollection: "albums")
        }
    }

    func text(_ file: CloudFile?) throws -> String? {
        try file.flatMap { sync.files.url(of: $0) }.map {
            String(decoding: try Data(contentsOf: $0), as: UTF8.self)
        }
    }

    func fetch(_ file: CloudFile?, _ key: String = "1") async throws -> String? {
        guard let file else { return nil }
        let url = try await sync.files.fetch(file, ofObjectForKey: key, inCollection: "albums")
        return String(decoding: try Data(contentsOf: url), as: UTF8.self)
    }

    /// The record on the server, as this device fetches it.
    func server(_ key: String = "1", desiredKeys: [String]? = nil) -> CKRecord? {
        let found = Lock<CKRecord?>(nil)
        let operation = CKFetchRecordsOperation(
            recordIDs: [CKRecord.ID(recordName: key, zoneID: sync.zoneID)])
        operation.desiredKeys = desiredKeys
        operation.perRecordResultBlock = { _, result in found.withLock { $0 = try? result.get() } }
        device.container.privateCloudDatabase.add(operation)
        return found.withLock { $0 }
    }

    func add(_ text: String) async throws -> CloudFile { try await sync.files.add(Data(text.utf8)) }

    @discardableResult
    func syncNow() -> CloudSyncStatus { sync.syncNowInline() }
}

extension YapDatabaseSerializer where Value: Codable {
    /// Bytes in which no text can be read.
    fileprivate static func turned() -> YapDatabaseSerializer {
        let cbor = YapDatabaseSerializer.cbor()
        return YapDatabaseSerializer(
            encode: { try cbor.encode($0).map { ~$0 } },
            decode: { try $0.map { ~$0 }.withUnsafeBytes { try cbor.decode($0) } })
    }
}
