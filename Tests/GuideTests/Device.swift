import CloudKit
import CloudKitTesting
import Foundation
import Yap
import YapCloudKit

/// A device with the guide's app on it: the bookmarks, and objects of one further model.
struct Device {
    let database: YapDatabase
    let sync: CloudSync
    var connection: YapDatabaseConnection { database.newConnection() }

    init(_ device: TestDevice, _ folder: Folder, _ name: String) async throws {
        database = try YapDatabase(url: folder.url.appending(component: name)) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
            $0.register(EveryType.self, inCollection: "everything")
            $0.register(Drawing.self, inCollection: "drawings")
        }
        sync = try await CloudSync(
            database, container: device.container,
            models: [
                .model(Bookmark.self, collection: "bookmarks"),
                .model(EveryType.self, collection: "everything"),
                .model(Drawing.self, collection: "drawings"),
            ], zone: "bookmarks")
    }

    func set<Model: CloudModel>(_ object: Model, _ key: String, _ collection: String) async throws {
        try await connection.readWrite { try $0.setObject(object, forKey: key, inCollection: collection) }
    }

    func object<Model: CloudModel>(_ key: String, _ collection: String) async throws -> Model? {
        try await connection.read { try $0.object(Model.self, forKey: key, inCollection: collection) }
    }
}
