import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// Models whose property is the path of an asset, which the app made and copies itself.
@Suite struct AssetModelTests {
    struct Photo: CloudModel, Equatable {
        var title = ""
        var path: String?

        static let recordType = "photo"
        static let fields = CloudFields<Photo> {
            $0.field(\.title)
            $0.field(
                \.path, toCloud: { $0.map { CKAsset(fileURL: URL(fileURLWithPath: $0)) } },
                fromCloud: { value -> String?? in .some((value as? CKAsset)?.fileURL?.path) })
        }
    }

    final class Device {
        let database: YapDatabase
        let device: TestDevice
        let sync: CloudSync
        let path = NSTemporaryDirectory() + "yap-photo-" + UUID().uuidString + ".db"

        init(_ cloud: TestCloud) throws {
            database = try YapDatabase(path: path) { $0.register(Photo.self, inCollection: "photos") }
            device = cloud.device(user: "ada")
            sync = try CloudSync(
                database, container: device.container,
                models: [.model(Photo.self, collection: "photos")], zone: "photos",
                scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
                random: SystemRandomSource())
        }

        deinit {
            try? database.blocking.close()
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) }
        }

        func edit(_ change: (inout Photo) -> Void) throws {
            try database.newConnection().blocking.readWrite { transaction in
                var photo = try transaction.object(Photo.self, forKey: "1", inCollection: "photos") ?? Photo()
                change(&photo)
                try transaction.setObject(photo, forKey: "1", inCollection: "photos")
            }
        }

        func photo() throws -> Photo? {
            try database.newConnection().blocking.read {
                try $0.object(Photo.self, forKey: "1", inCollection: "photos")
            }
        }

        /// The bytes at the photo's path.
        func text() throws -> String? {
            try photo()?.path.map {
                String(decoding: try Data(contentsOf: URL(fileURLWithPath: $0)), as: UTF8.self)
            }
        }
    }

    private func file(_ text: String) throws -> String {
        let path = NSTemporaryDirectory() + "yap-photo-" + UUID().uuidString
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    @Test func aConflictKeepsTheFileAndTakesTheOtherDevices() throws {
        let cloud = TestCloud()
        let (phone, laptop) = (try Device(cloud), try Device(cloud))
        let (first, second) = (try file("first"), try file("second"))
        defer { for path in [first, second] { try? FileManager.default.removeItem(atPath: path) } }
        try phone.edit { $0.path = first }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        #expect(try laptop.text() == "first")
        // A save that meets another one, of the file and of the title.
        try phone.edit { $0.path = second }
        try laptop.edit { $0.title = "Rome" }
        cloud.during(.modifyRecords, on: laptop.device) { [sync = phone.sync] in sync.syncNowInline() }
        laptop.sync.syncNowInline()
        #expect(try laptop.text() == "second" && laptop.photo()?.title == "Rome")
        try laptop.edit { $0.title = "Roma" }
        try phone.edit { $0.title = "Room" }
        cloud.during(.modifyRecords, on: phone.device) { [sync = laptop.sync] in sync.syncNowInline() }
        phone.sync.syncNowInline()
        #expect(try phone.text() == "second" && laptop.text() == "second")
    }

    @Test func aMergeBesideAWaitingFileLeavesTheAppsPath() throws {
        let cloud = TestCloud()
        let (phone, laptop) = (try Device(cloud), try Device(cloud))
        let path = try file("photo")
        defer { try? FileManager.default.removeItem(atPath: path) }
        try phone.edit { $0.title = "Rome" }
        phone.sync.syncNowInline()
        laptop.sync.syncNowInline()
        try laptop.edit { $0.title = "Roma" }
        laptop.sync.syncNowInline()
        try phone.edit { $0.path = path }
        phone.sync.syncNowInline()
        #expect(try phone.photo() == Photo(title: "Roma", path: path))
        laptop.sync.syncNowInline()
        #expect(try laptop.text() == "photo")
    }
}
