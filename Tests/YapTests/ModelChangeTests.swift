import SQLite
import System
import Testing

@testable import Yap

/// The second version of an app reads what the first one stored.
struct ModelChangeTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    struct Tag: YapDatabaseModel, Equatable {
        var name = ""
    }

    struct Bookmark: YapDatabaseModel, Equatable {
        var title = ""
        var rating = 0
        var tags: [Tag] = []
    }

    struct NewTag: YapDatabaseModel, Equatable {
        var name = ""
        var color = "grey"
    }

    struct Reader: Codable, Sendable, Equatable {
        var name = "nobody"
        var page = 1
    }

    struct NewBookmark: YapDatabaseModel, Equatable {
        var title = ""
        var note = "none yet"
        var reader = Reader()
        var isRead = false
        var due: String? = "never"
        var tags: [NewTag] = []
    }

    /// What has no init() of its own.
    struct Page: Codable, Sendable, Equatable {
        var address: String
    }

    struct NewPage: Codable, Sendable, Equatable {
        var address: String
        var reader: Reader
    }

    private func open<Object: Codable & Sendable>(
        _ type: Object.Type, default value: Object? = nil, version: Int = 1, checks: Bool = true,
        upgrade: (@Sendable (inout YapDatabaseStoredObject) throws -> Void)? = nil
    ) throws -> YapDatabaseConnection {
        var options = YapDatabaseOptions()
        options.checksStoredObjects = checks
        return try YapDatabase(path: folder.file, options: options) {
            $0.register(type, inCollection: "things", default: value, version: version, upgrade: upgrade)
        }.newConnection()
    }

    /// Stores objects under the keys from `first` on.
    private func store<Object: Codable & Sendable>(
        _ objects: [Object], version: Int = 1, from first: Int = 0
    ) throws {
        let connection = try open(Object.self, version: version, checks: false)
        try connection.blocking.readWrite { transaction in
            for (number, object) in objects.enumerated() {
                try transaction.setObject(object, forKey: "\(first + number)", inCollection: "things")
            }
        }
        try connection.database.blocking.close()
    }

    private func read<Object: Sendable>(
        _ type: Object.Type, _ connection: YapDatabaseConnection, _ key: String = "0"
    ) throws -> Object? {
        try connection.blocking.read { try $0.object(type, forKey: key, inCollection: "things") }
    }

    @Test func aNewPropertyHasItsDefaultInStoredObjectsAndARemovedOneIsPassedOver() throws {
        try store([Bookmark(title: "Swift", rating: 5, tags: [Tag(name: "code"), Tag(name: "long")])])
        let found = try read(NewBookmark.self, try open(NewBookmark.self))
        var wanted = NewBookmark(title: "Swift", tags: [NewTag(name: "code"), NewTag(name: "long")])
        // An optional one that is absent is nil.
        wanted.due = nil
        #expect(found == wanted)
    }

    @Test func aPropertyThatAnObjectWithinLacksIsTakenFromTheDefaultOfTheWhole() throws {
        struct Holder: YapDatabaseModel, Equatable {
            struct OldReader: Codable, Sendable, Equatable { var name = "ada" }
            var reader = OldReader()
        }
        try store([Holder()])
        #expect(
            try read(NewBookmark.self, try open(NewBookmark.self))?.reader == Reader(name: "ada", page: 1))
    }

    @Test func aTypeWithoutInitTakesWhatIsAbsentFromTheDefaultItIsRegisteredWith() throws {
        try store([Page(address: "a")])
        let value = NewPage(address: "", reader: Reader(name: "ada", page: 7))
        let found = try read(NewPage.self, try open(NewPage.self, default: value))
        #expect(found == NewPage(address: "a", reader: Reader(name: "ada", page: 7)))
    }

    @Test func aRenamedAndARetypedPropertyAreWhatTheUpgradeMakesOfThem() throws {
        struct Item: Codable, Sendable, Equatable {
            var title: String
            var stars: Int
        }
        struct OldItem: Codable, Sendable {
            var name: String
            var stars: String
        }
        try store([OldItem(name: "eggs", stars: "3")])
        let connection = try open(Item.self, version: 2) { old in
            old.rename("name", to: "title")
            try old.set(Int(try old.value(String.self, of: "stars") ?? "") ?? 0, for: "stars")
        }
        #expect(try read(Item.self, connection) == Item(title: "eggs", stars: 3))
        // Stored again it is of version 2, and the upgrade is not asked.
        try connection.blocking.readWrite {
            try $0.setObject(Item(title: "milk", stars: 1), forKey: "0", inCollection: "things")
        }
        try connection.database.blocking.close()
        let later = try open(Item.self, version: 2) { _ in throw Refusal() }
        #expect(try read(Item.self, later) == Item(title: "milk", stars: 1))
    }

    @Test func anUpgradeReceivesTheVersionOfEachObject() throws {
        try store([Tag(name: "one")])
        try store([Tag(name: "two")], version: 2, from: 1)
        let connection = try open(Tag.self, version: 3) { old in
            try old.set("\(old.version)", for: "name")
        }
        #expect(try read(Tag.self, connection, "0")?.name == "1")
        #expect(try read(Tag.self, connection, "1")?.name == "2")
    }

    @Test func anEarlierVersionReadsWhatALaterOneStoredAsFarAsItFits() throws {
        try store([NewTag(name: "code", color: "red")], version: 2)
        #expect(try read(Tag.self, try open(Tag.self)) == Tag(name: "code"))
    }

    @Test func whatTheTypeCanNotReadIsRefusedWhenTheFileIsOpenedAndTheErrorSaysTheFix() throws {
        try store([Page(address: "a")])
        let error = #expect(throws: YapDatabaseError.self) { _ = try open(NewPage.self) }
        #expect(error?.code == .decoding)
        #expect(error?.collection == "things" && error?.key == "0")
        let text = error?.message ?? ""
        #expect(text.contains("'reader'") && text.contains("YapDatabaseModel") && text.contains("default:"))

        struct Number: Codable, Sendable { var address: Int }
        let mismatch = #expect(throws: YapDatabaseError.self) { _ = try open(Number.self) }
        #expect(mismatch?.message.contains("'address' is no Int") == true)
        #expect(mismatch?.message.contains("version:") == true)

        // Nothing is lost by that: the file opens with the right type, or without the check.
        #expect(try read(Page.self, try open(Page.self)) == Page(address: "a"))
        #expect(code { _ = try read(NewPage.self, try open(NewPage.self, checks: false)) } == .decoding)
    }

    @Test func aRemovedEnumCaseIsReportedWithTheRemedyOnOpeningAndReading() throws {
        enum OldKind: String, Codable, Sendable { case article, video }
        enum Kind: String, Codable, Sendable { case article }
        struct OldLink: Codable, Sendable { var kind = OldKind.video }
        struct Link: Codable, Sendable { var kind = Kind.article }
        try store([OldLink()])
        let error = #expect(throws: YapDatabaseError.self) { _ = try open(Link.self) }
        #expect(error?.code == .decoding && error?.message.contains("'kind' can't be read") == true)
        let connection = try open(Link.self, checks: false)
        let atRead = #expect(throws: YapDatabaseError.self) { _ = try read(Link.self, connection) }
        #expect(atRead?.message == error?.message && error?.message.contains("version:") == true)
    }

    @Test func damagedBytesOfOneObjectDoNotKeepAnAppFromItsOthers() throws {
        try store([Tag(name: "one"), Tag(name: "two")])
        let sqlite = try Connection(path: folder.file)
        try sqlite.execute("UPDATE database2 SET data = x'FF00' WHERE key = '0'")
        try sqlite.close()
        let connection = try open(Tag.self)
        #expect(try read(Tag.self, connection, "1") == Tag(name: "two"))
        #expect(code { _ = try read(Tag.self, connection, "0") } == .decoding)
    }

    @Test func upgradeObjectsStoresOldObjectsAgainWithProgressAndNotifiesNoObserver() async throws {
        try store((0..<450).map { Tag(name: "tag \($0)") })
        let connection = try open(NewTag.self, version: 2) { old in
            try old.set("blue", for: "color")
        }
        let (changes, told) = (Lock(0), Lock(0))
        connection.database.addInlineCommitObserver { commit in
            changes.withLock { $0 += commit.changedCollections.count }
        }
        let count = try await connection.upgradeObjects(inCollection: "things") { progress in
            #expect(progress.totalCount == 450 && progress.storedCount == progress.doneCount)
            told.withLock { $0 += 1 }
        }
        #expect(count == 450)
        #expect(told.withLock { $0 } == 3)
        #expect(changes.withLock { $0 } == 0)
        #expect(try await connection.upgradeObjects(inCollection: "things") == 0)
        try await connection.database.close()
        let later = try open(NewTag.self, version: 2) { _ in throw Refusal() }
        #expect(try read(NewTag.self, later, "449") == NewTag(name: "tag 449", color: "blue"))
    }

    @Test func aVersionBelowOneIsAnErrorOfOpening() {
        #expect(code { _ = try open(Tag.self, version: 0) } == .typeMismatch)
    }

    private struct Refusal: Error {}

    /// A later version of a model, of which an earlier one can't read some properties.
    struct LaterTicket: YapDatabaseModel, Equatable {
        enum Kind: String, Codable { case train, ferry }

        var title = ""
        var price = 0.5
        var kind = Kind.ferry
        var stops = ["A", "B"]
    }

    struct EarlierTicket: YapDatabaseModel, Equatable {
        enum Kind: String, Codable { case train, bus }

        var title = "none"
        var price = "free"
        var kind = Kind.bus
        var stops: Int?
    }

    @Test func whatALaterVersionStoredOtherwiseCountsAsAbsent() throws {
        try store([LaterTicket(title: "To the sea")], version: 2)
        let found = try read(EarlierTicket.self, try open(EarlierTicket.self))
        #expect(found == EarlierTicket(title: "To the sea"))
    }

    @Test func anotherTypeInTheSameVersionIsRefused() throws {
        try store([LaterTicket(title: "To the sea")])
        #expect(throws: YapDatabaseError.self) { try open(EarlierTicket.self) }
    }
}
