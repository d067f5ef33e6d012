import Foundation
import Testing
import Yap

struct EncryptionPageTests {
    private func opened(_ path: String, _ key: [UInt8]) throws -> YapDatabase {
        var options = YapDatabaseOptions()
        options.encryptionKey = try .init(bytes: key)
        let database = try YapDatabase(path: path, options: options) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        return database
    }

    @Test func theSystemsSQLiteRefusesAKey() throws {
        let folder = try Folder()
        let path = folder.url.path + "/encrypted.yap"
        do {
            let database = try opened(path, [UInt8](repeating: 7, count: 32))
            // The library that is loaded is SQLCipher.
            try database.blocking.close()
            #expect(throws: YapDatabaseError.self) { try opened(path, [UInt8](repeating: 8, count: 32)) }
        } catch let error as YapDatabaseError {
            #expect(error.code == .encryptionUnavailable)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test func theSystemsSQLiteRefusesACopyWithAKey() async throws {
        let folder = try Folder()
        let database = try YapDatabase(path: folder.url.path + "/plain.yap") {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
        let newPath = folder.url.path + "/encrypted.yap"
        let newKey = [UInt8](repeating: 7, count: 32)
        do {
            try await database.backup(to: newPath, encryptionKey: .init(bytes: newKey))
            // The library that is loaded is SQLCipher.
            try await opened(newPath, newKey).close()
        } catch let error as YapDatabaseError {
            #expect(error.code == .encryptionUnavailable)
            #expect(!FileManager.default.fileExists(atPath: newPath))
        }
    }
}
