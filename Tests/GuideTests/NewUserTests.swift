import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// What a new user does after reading the guide and nothing else: the app of its pages on two devices, and the usual
/// mistakes, each with what it must say.
@Suite struct NewUserTests {
    /// A mistake, and the words that tell what it was and what to do.
    struct Mistake: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let says: [String]
        let make: @Sendable (NewUserTests) async throws -> Void

        init(_ done: String, says: [String], _ make: @escaping @Sendable (NewUserTests) async throws -> Void)
        {
            testDescription = done
            self.says = says
            self.make = make
        }
    }

    private let folder: Folder
    private let cloud = TestCloud(execution: .threads)

    init() throws { folder = try Folder() }

    private func open(
        _ name: String = "app.yap",
        configure: (inout YapDatabaseConfiguration) -> Void = {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
    ) throws -> YapDatabase {
        try YapDatabase(url: folder.url.appending(component: name), configure: configure)
    }

    private func begin(_ database: YapDatabase, _ device: TestDevice) async throws -> CloudSync {
        try await CloudSync(
            database, container: device.container,
            models: [.model(Bookmark.self, collection: "bookmarks")], zone: "bookmarks")
    }

    @Test func theGuidesAppKeepsItsBookmarksOnTwoDevices() async throws {
        let key = "https://example.com/café?q=100%"
        let (here, there) = (try open("phone.yap"), try open("laptop.yap"))
        let phone = try await begin(here, cloud.device(user: "ada"))
        let laptop = try await begin(there, cloud.device(user: "ada"))
        try await here.newConnection().readWrite { transaction in
            let bookmark = Bookmark(title: "Coffee", tags: ["drinks"])
            try transaction.setObject(bookmark, forKey: key, inCollection: "bookmarks")
        }
        #expect(await phone.syncNow().state == .idle)
        #expect(await laptop.syncNow().state == .idle)
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        try await there.newConnection().readWrite { transaction in
            var bookmark = try #require(
                try transaction.object(Bookmark.self, forKey: key, inCollection: "bookmarks"))
            bookmark.readAt = now
            bookmark.tags.append("read")
            try transaction.setObject(bookmark, forKey: key, inCollection: "bookmarks")
        }
        #expect(await laptop.syncNow().state == .idle)
        #expect(await phone.syncNow().state == .idle)
        let found = try await here.newConnection().read {
            try $0.object(Bookmark.self, forKey: key, inCollection: "bookmarks")
        }
        #expect(found == Bookmark(title: "Coffee", tags: ["drinks", "read"], readAt: now))
    }

    @Test func theKeyOfTheGuideIsShortEnoughForEveryText() async throws {
        let database = try open()
        let sync = try await begin(database, cloud.device(user: "ada"))
        let texts = [
            "https://swift.org", String(repeating: "k", count: 320), String(repeating: "é", count: 40),
            String(repeating: "é", count: 41), String(repeating: "日本語", count: 30),
            String(repeating: "👩‍👩‍👧‍👦", count: 60), "_" + String(repeating: "k", count: 320),
        ]
        try await database.newConnection().readWrite { transaction in
            for text in texts {
                try transaction.setObject(
                    Bookmark(title: text), forKey: key(of: text), inCollection: "bookmarks")
            }
        }
        #expect(await sync.syncNow().state == .idle)
        // Another beginning, or another end, is another key.
        #expect(Set(texts.flatMap { [key(of: $0), key(of: $0 + "x")] }).count == 2 * texts.count)
    }

    @Test func onTheDeviceAnyTextIsAKey() async throws {
        let keys = ["", "_draft", "日本", "a\0b", String(repeating: "é", count: 10_000)]
        let connection = try open().newConnection()
        try await connection.readWrite { transaction in
            for key in keys {
                try transaction.setObject(Bookmark(title: key), forKey: key, inCollection: "bookmarks")
            }
        }
        let found = try await connection.read { try $0.allKeys(inCollection: "bookmarks") }
        #expect(Set(found) == Set(keys))
    }

    private static let mistakes: [Mistake] = [
        Mistake(
            "a collection that nobody registered",
            says: ["collection \"links\"", "register(_:inCollection:)"]
        ) { user in
            try await user.open().newConnection().readWrite {
                try $0.setObject(Bookmark(), forKey: "1", inCollection: "links")
            }
        },
        Mistake("an object of another type", says: ["Draft", "Bookmark", "bookmarks"]) { user in
            try await user.open().newConnection().readWrite {
                try $0.setObject(Draft(), forKey: "1", inCollection: "bookmarks")
            }
        },
        Mistake("another type is read than is stored", says: ["Draft", "Bookmark", "bookmarks"]) { user in
            let connection = try user.open().newConnection()
            try await connection.readWrite {
                try $0.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
            }
            _ = try await connection.read {
                try $0.object(Draft.self, forKey: "1", inCollection: "bookmarks")
            }
        },
        Mistake("a folder that isn't there", says: ["missing/app.yap", "check that the folder exists"]) {
            user in
            _ = try user.open("missing/app.yap")
        },
        Mistake("a file that is no database", says: ["check the path", "not"]) { user in
            try Data(repeating: 65, count: 5_000).write(to: user.folder.url.appending(component: "app.yap"))
            _ = try user.open()
        },
        Mistake("a synced collection that the database doesn't know", says: ["drawings", "register"]) {
            user in
            _ = try await CloudSync(
                user.open(), container: user.cloud.device(user: "ada").container,
                models: [.model(Drawing.self, collection: "drawings")], zone: "bookmarks")
        },
        Mistake("two models with one record type", says: ["bookmarks", "later", "\"bookmark\"", "zone"]) {
            user in
            let database = try user.open {
                $0.register(Bookmark.self, inCollection: "bookmarks")
                $0.register(Bookmark.self, inCollection: "later")
            }
            _ = try await CloudSync(
                database, container: user.cloud.device(user: "ada").container,
                models: [
                    .model(Bookmark.self, collection: "bookmarks"),
                    .model(Bookmark.self, collection: "later"),
                ], zone: "bookmarks")
        },
        Mistake("two syncs of one database", says: ["cloudKit", "another name"]) { user in
            let database = try user.open()
            let device = user.cloud.device(user: "ada")
            let first = try await user.begin(database, device)
            _ = try await user.begin(database, device)
            first.suspend()
        },
        Mistake("an empty key in a synced collection", says: ["no record can be named", "1 to 255"]) { user in
            let database = try user.open()
            let sync = try await user.begin(database, user.cloud.device(user: "ada"))
            defer { sync.suspend() }
            try await database.newConnection().readWrite {
                try $0.setObject(Bookmark(), forKey: "", inCollection: "bookmarks")
            }
        },
        Mistake("a key that is too long", says: ["no record can be named", "320 bytes", "hash"]) { user in
            let database = try user.open()
            let sync = try await user.begin(database, user.cloud.device(user: "ada"))
            defer { sync.suspend() }
            try await database.newConnection().readWrite {
                let key = String(repeating: "k", count: 320)
                try $0.setObject(Bookmark(), forKey: key, inCollection: "bookmarks")
            }
        },
        Mistake("a number that is none", says: ["EveryType", "\"double\"", "nan"]) { user in
            let database = try user.open {
                $0.register(EveryType.self, inCollection: "everything")
            }
            let sync = try await CloudSync(
                database, container: user.cloud.device(user: "ada").container,
                models: [.model(EveryType.self, collection: "everything")], zone: "everything")
            defer { sync.suspend() }
            try await database.newConnection().readWrite {
                try $0.setObject(EveryType(double: .nan), forKey: "1", inCollection: "everything")
            }
        },
        Mistake("a database that was closed", says: ["closed", "open the database again"]) { user in
            let database = try user.open()
            let connection = database.newConnection()
            try await database.close()
            try await connection.readWrite {
                try $0.setObject(Bookmark(), forKey: "1", inCollection: "bookmarks")
            }
        },
        Mistake("a version before the first", says: ["bookmarks", "version", "1 or more"]) { user in
            _ = try user.open {
                $0.register(Bookmark.self, inCollection: "bookmarks", version: 0)
            }
        },
        Mistake("a collection that is registered twice", says: ["bookmarks", "already"]) { user in
            _ = try user.open {
                $0.register(Bookmark.self, inCollection: "bookmarks")
                $0.register(Draft.self, inCollection: "bookmarks")
            }
        },
    ]

    @Test(arguments: mistakes)
    func aMistakeSaysWhatItWasAndWhatToDo(_ mistake: Mistake) async throws {
        do {
            try await mistake.make(self)
            Issue.record("nothing was said")
        } catch {
            let told = "\(error)"
            for words in mistake.says { #expect(told.contains(words), "\(told)") }
        }
    }

    @Test func aMissingSignInIsAProblemWithARemedy() async throws {
        let database = try open()
        let sync = try await begin(database, cloud.signedOutDevice())
        try await database.newConnection().readWrite {
            try $0.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        let status = await sync.syncNow()
        #expect("\(status)".contains("Sign in"), "\(status)")
    }
}

/// The text, or of a long one its beginning and a hash (FNV-1a). `hashValue` is another number in each process.
func key(of text: String) -> String {
    guard text.utf8.count > 80 else { return text }
    let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    return String(decoding: text.utf8.prefix(60), as: UTF8.self) + "#" + String(hash, radix: 16)
}
