import CloudKit
import CloudKitTesting
import CodeBlocks
import Foundation
import Testing
import Yap
import YapCloudKit

/// A device with one version of an app, which has one model and one object.
private struct Installed<Model: CloudModel & Equatable> {
    let device: TestDevice
    let database: YapDatabase
    let sync: CloudSync
    static var collection: String { Model.recordType + "s" }

    init(
        _ type: Model.Type, on device: TestDevice, file: URL,
        register: (inout YapDatabaseConfiguration) -> Void = {
            $0.register(Model.self, inCollection: Self.collection)
        }
    ) async throws {
        self.device = device
        database = try YapDatabase(url: file, configure: register)
        sync = try await CloudSync(
            database, container: device.container, models: [.model(type, collection: Self.collection)],
            zone: "app")
    }

    var object: Model? {
        get async throws {
            try await database.newConnection().read {
                try $0.object(Model.self, forKey: "1", inCollection: Self.collection)
            }
        }
    }

    /// Changes the object, or makes it.
    func edit(_ change: @escaping @Sendable (inout Model) -> Void) async throws {
        try await database.newConnection().readWrite { transaction in
            let collection = Self.collection
            var object =
                try transaction.object(Model.self, forKey: "1", inCollection: collection) ?? Model()
            change(&object)
            try transaction.setObject(object, forKey: "1", inCollection: collection)
        }
    }

    func synced() async {
        sync.networkMayBeBack()
        #expect(await sync.syncNow().state == .idle)
    }

    func close() throws {
        sync.suspend()
        try database.blocking.close()
    }
}

/// Two versions of an app on two devices of one user: the recipes of `docs/guide/CHANGING_A_MODEL.md` lose nothing,
/// whichever is first.
@Suite struct TwoVersionsTests {
    private let folder: Folder
    private let cloud = TestCloud(execution: .threads)
    private let devices: [TestDevice]

    init() throws {
        folder = try Folder()
        devices = [cloud.device(user: "ada"), cloud.device(user: "ada")]
    }

    private func file(_ name: String) -> URL { folder.url.appending(component: name) }

    private func old<Model: CloudModel & Equatable>(_ type: Model.Type) async throws -> Installed<Model> {
        try await Installed(type, on: devices[0], file: file("old.yap"))
    }

    private func new<Model: CloudModel & Equatable>(_ type: Model.Type) async throws -> Installed<Model> {
        try await Installed(type, on: devices[1], file: file("new.yap"))
    }

    private func disconnect() { for device in devices { cloud.disconnect(device) } }

    /// Lets two devices sync that were apart, one before the other, until both have all. A device that is connected
    /// syncs by itself, so the second is connected when the first is done.
    private func meet<First, Second>(_ first: Installed<First>, _ second: Installed<Second>) async {
        cloud.disconnect(second.device)
        cloud.connect(first.device)
        await first.synced()
        cloud.connect(second.device)
        await second.synced()
        await first.synced()
    }

    // MARK: Another type

    @Test func aNumberOfAnotherTypeSyncsBothWaysBetweenTheVersions() async throws {
        let old = try await old(Version1.Book.self)
        let new = try await new(Version2.Book.self)
        // The older version is first.
        try await old.edit { $0 = Version1.Book(title: "Swift", rating: 3) }
        await meet(old, new)
        #expect(try await new.object?.stars == 3)
        // Then the newer one.
        try await new.edit { $0.stars = 4.5 }
        await meet(new, old)
        #expect(try await old.object == Version1.Book(title: "Swift", rating: 5))
        // Another edit of the older version leaves the exact number.
        try await old.edit { $0.title = "Swift 6" }
        await meet(old, new)
        #expect(try await new.object?.stars == 4.5)
        #expect(try await new.object?.title == "Swift 6")
        try await old.edit { $0.rating = 2 }
        await meet(old, new)
        #expect(try await new.object?.stars == 2)
        try await new.edit { $0.stars = 0 }
        await meet(new, old)
        #expect(try await old.object?.rating == 0)
        // A device that comes later finds the same.
        let later = try await Installed(
            Version2.Book.self, on: cloud.device(user: "ada"), file: file("later.yap"))
        await later.synced()
        #expect(try await later.object == new.object)
    }

    @Test(arguments: [true, false])
    func whereBothVersionsChangeTheNumberTheFirstStandsOnBothDevices(_ isOldFirst: Bool) async throws {
        let old = try await old(Version1.Book.self)
        let new = try await new(Version2.Book.self)
        try await old.edit { $0 = Version1.Book(title: "Swift", rating: 3) }
        await meet(old, new)
        disconnect()
        try await old.edit { $0.rating = 1 }
        try await new.edit { book in
            book.stars = 4.5
            book.title = "Swift 6"
        }
        if isOldFirst { await meet(old, new) } else { await meet(new, old) }
        if isOldFirst { await new.synced() } else { await old.synced() }
        #expect(try await new.object?.stars == (isOldFirst ? 1 : 4.5))
        #expect(try await old.object == Version1.Book(title: "Swift 6", rating: isOldFirst ? 1 : 5))
    }

    @Test func aDeviceIsUpdatedAndPutBackWithEditsThatWait() async throws {
        let other = try await new(Version2.Book.self)
        let before = try await old(Version1.Book.self)
        try await other.edit { book in
            book.title = "Swift"
            book.stars = 4.5
        }
        await meet(other, before)
        disconnect()
        try await before.edit { $0.rating = 2 }
        try before.close()
        // Updated while its edit waits.
        let after = try await Installed(Version2.Book.self, on: devices[0], file: file("old.yap"))
        #expect(after.database.modelWarnings.isEmpty)
        #expect(try await after.object?.stars == 2)
        await meet(after, other)
        #expect(try await other.object?.stars == 2)
        try await after.edit { $0.stars = 3.5 }
        try after.close()
        // And put back: the older version has the whole number, and the exact one is kept for the newer.
        let again = try await Installed(Version1.Book.self, on: devices[0], file: file("old.yap"))
        #expect(try await again.object?.rating == 4)
        try await again.edit { $0.title = "Swift 6" }
        await meet(again, other)
        #expect(try await other.object?.stars == 3.5)
        #expect(try await other.object?.title == "Swift 6")
    }

    @Test func twoDevicesOfTheNewerVersionAgreeOnTheNumber() async throws {
        let phone = try await old(Version2.Book.self)
        let laptop = try await new(Version2.Book.self)
        try await phone.edit { $0.stars = 3 }
        await meet(phone, laptop)
        disconnect()
        try await phone.edit { $0.stars = 3.25 }
        try await laptop.edit { $0.stars = 4.5 }
        await meet(phone, laptop)
        // Of the two fields the phone has changed one, and the laptop both: its whole number counts.
        #expect(try await phone.object?.stars == 5)
        #expect(try await laptop.object == phone.object)
    }

    @Test(arguments: [true, false])
    func aTextThatBecameAListKeepsWhatEitherVersionAdds(_ isOldFirst: Bool) async throws {
        let old = try await old(Version1.Story.self)
        let new = try await new(Version2.Story.self)
        if isOldFirst {
            try await old.edit { $0.tags = "code" }
            await meet(old, new)
        } else {
            try await new.edit { $0.labels = ["code"] }
            await meet(new, old)
        }
        #expect(try await new.object?.labels == ["code"])
        #expect(try await old.object?.tags == "code")
        try await new.edit { $0.labels.append("long") }
        await meet(new, old)
        #expect(try await old.object?.tags == "code, long")
        disconnect()
        try await old.edit { $0.tags = "code, long, old" }
        try await new.edit { $0.labels.append("new") }
        if isOldFirst { await meet(old, new) } else { await meet(new, old) }
        if isOldFirst { await new.synced() } else { await old.synced() }
        // The older version has no rule for its text: where it comes second, the first stands, as ever with it.
        let labels = isOldFirst ? ["code", "long", "old", "new"] : ["code", "long", "new"]
        #expect(try await new.object?.labels == labels)
        #expect(try await old.object?.tags == labels.joined(separator: ", "))
    }

    @Test func twoDevicesOfTheNewerVersionKeepTheTagsOfBoth() async throws {
        let phone = try await old(Version2.Story.self)
        let laptop = try await new(Version2.Story.self)
        try await phone.edit { $0.labels = ["a", "b"] }
        await meet(phone, laptop)
        disconnect()
        try await phone.edit { $0.labels = ["a", "phone"] }
        try await laptop.edit { $0.labels.append("laptop") }
        await meet(phone, laptop)
        #expect(try await phone.object?.labels == ["a", "phone", "laptop"])
        #expect(try await laptop.object == phone.object)
    }

    @Test func aReplacedEnumSyncsBothWaysBetweenTheVersions() async throws {
        let old = try await old(Version1.Story.self)
        let new = try await new(Version2.Story.self)
        try await new.edit { $0.format = .hardcover }
        await meet(new, old)
        #expect(try await old.object?.medium == .paper)
        try await old.edit { $0.tags = "code" }
        await meet(old, new)
        #expect(try await new.object?.format == .hardcover)
        try await old.edit { $0.medium = .audio }
        await meet(old, new)
        #expect(try await new.object?.format == .audiobook)
        try await new.edit { $0.format = .paperback }
        await meet(new, old)
        #expect(try await old.object?.medium == .paper)
    }

    // MARK: The end of the old field

    @Test(arguments: [true, false])
    func theOldFieldEndsWithoutLosingAValue(_ isOlderFirst: Bool) async throws {
        let first = try await old(Version1.Book.self)
        try await first.edit { $0 = Version1.Book(title: "Swift", rating: 3) }
        await first.synced()
        try first.close()
        // Versions 2 and 3 in use at once.
        let second = try await Installed(Version2.Book.self, on: devices[0], file: file("old.yap"))
        let third = try await new(Version3.Book.self)
        await third.synced()
        #expect(try await third.object?.stars == 3)
        if isOlderFirst { try await second.edit { $0.stars = 4.5 } }
        await meet(second, third)
        try await third.edit { $0.stars = 2.25 }
        await meet(third, second)
        #expect(try await second.object?.stars == 2.25)
        try await second.edit { $0.stars = 1.5 }
        await meet(second, third)
        #expect(try await third.object?.stars == 1.5)
        try second.close()

        try await moveRatings(third.database.newConnection())
        await third.synced()
        #expect(try await third.object?.rating == nil)
        #expect(try await third.object?.exactRating == 1.5)

        typealias Book = Version4.Book
        let last = try await Installed(Book.self, on: devices[0], file: file("old.yap")) {
            $0.register(Book.self, inCollection: "books", version: 2) { old in
                old.rename("exactRating", to: "stars")
            }
        }
        #expect(last.database.modelWarnings.isEmpty)
        await last.synced()
        #expect(try await last.object == Book(title: "Swift", stars: 1.5))
    }

    private func moveRatings(_ connection: YapDatabaseConnection) async throws {
        typealias Book = Version3.Book
        try await connection.readWrite { transaction in
            for (key, book) in try transaction.objects(Book.self, inCollection: "books")
            where book.rating != nil {
                var book = book
                let stars = book.stars
                book.stars = stars  // clears `rating`
                try transaction.setObject(book, forKey: key, inCollection: "books")
            }
        }
    }

    // MARK: Another name

    @Test func aPropertyRenamedOnTheDeviceSyncsBothWaysBetweenTheVersions() async throws {
        let old = try await old(Version1.Chore.self)
        let new = try await new(Version2.Chore.self)
        try await old.edit { $0 = Version1.Chore(title: "Wash", done: true) }
        await meet(old, new)
        #expect(try await new.object == Version2.Chore(title: "Wash", isDone: true))
        try await new.edit { $0.isDone = false }
        await meet(new, old)
        #expect(try await old.object == Version1.Chore(title: "Wash", done: false))
    }

    @Test(arguments: [true, false])
    func aDeviceWhoseModelRenamesAPropertyKeepsItAndItsEditsThatWait(_ isOldFirst: Bool) async throws {
        let before = try await old(Version1.Chore.self)
        let other = try await new(Version2.Chore.self)
        try await before.edit { $0 = Version1.Chore(title: "Wash", done: false) }
        await meet(before, other)
        disconnect()
        try await before.edit { $0.done = true }
        try await other.edit { $0.title = "Wash up" }
        try before.close()
        typealias Chore = Version2.Chore
        let wanted = try Self.warningOfThePage
        let found = try warnings(url: file("old.yap"))
        #expect(found == [wanted])

        let after = try await Installed(Chore.self, on: devices[0], file: file("old.yap")) {
            $0.register(Chore.self, inCollection: "chores", version: 2) { old in
                old.rename("done", to: "isDone")
            }
        }
        #expect(after.database.modelWarnings.isEmpty)
        #expect(try await after.object?.isDone == true)
        if isOldFirst { await meet(after, other) } else { await meet(other, after) }
        if isOldFirst { await other.synced() } else { await after.synced() }
        #expect(try await after.object == Chore(title: "Wash up", isDone: true))
        #expect(try await other.object == after.object)
    }

    /// What an app logs that has renamed the property and forgotten the upgrade.
    private func warnings(url: URL) throws -> [String] {
        typealias Chore = Version2.Chore
        var lines: [String] = []
        func log(_ line: String) { lines.append(line) }
        let database = try YapDatabase(url: url) { $0.register(Chore.self, inCollection: "chores") }
        for warning in database.modelWarnings { log("\(warning)") }
        try database.blocking.close()
        return lines
    }

    /// The warning as the page shows it.
    private static var warningOfThePage: String {
        get throws {
            let page = CodeBlocks.guide.appending(path: "CHANGING_A_MODEL.md")
            let text = try String(contentsOf: page, encoding: .utf8)
            let blocks = text.components(separatedBy: "```text\n").map { block in
                block.components(separatedBy: "\n```").first ?? ""
            }
            let block = try #require(blocks.first { $0.hasPrefix("collection \"chores\": ") })
            return block.replacing("\n", with: " ")
        }
    }

    @Test func aFieldRenamedInTheCloudSyncsBothWaysBetweenTheVersions() async throws {
        let old = try await old(Version1.Chore.self)
        let new = try await new(Version2.RenamedChore.self)
        try await old.edit { $0 = Version1.Chore(title: "Wash", done: true) }
        await meet(old, new)
        #expect(try await new.object?.isFinished == true)
        try await new.edit { $0.isFinished = false }
        await meet(new, old)
        #expect(try await old.object?.done == false)
        try await new.edit { $0.isFinished = true }
        await meet(new, old)
        #expect(try await old.object?.done == true)
        try await old.edit { $0.done = false }
        await meet(old, new)
        #expect(try await new.object?.isFinished == false)
    }

    @Test(arguments: [true, false])
    func whereBothVersionsChangeARenamedFieldTheFirstStandsOnBothDevices(_ isOldFirst: Bool) async throws {
        let old = try await old(Version1.Chore.self)
        let new = try await new(Version2.RenamedChore.self)
        try await old.edit { $0 = Version1.Chore(title: "Wash", done: true) }
        await meet(old, new)
        disconnect()
        try await old.edit { $0.done = false }
        try await new.edit { chore in
            chore.isFinished = true
            chore.title = "Wash up"
        }
        if isOldFirst { await meet(old, new) } else { await meet(new, old) }
        if isOldFirst { await new.synced() } else { await old.synced() }
        // Only the older version has changed the value.
        #expect(try await old.object == Version1.Chore(title: "Wash up", done: false))
        #expect(try await new.object?.isFinished == false)
    }
}
