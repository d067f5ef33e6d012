import CloudKit
import CloudKitTesting
import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// Versions of an app, with other fields in a model, after each other on one file.
@Suite struct ModelVersionTests {
    private let cloud = TestCloud()
    private let laptop: SyncedDevice
    /// For the file of the device that changes its version.
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        laptop = try SyncedDevice(cloud)
    }

    /// Opens the file as a version of the app with one model.
    private func open<Model: CloudModel>(
        _ type: Model.Type, _ path: String, _ container: CKContainer
    ) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) { $0.register(type, inCollection: "todos") }
        let sync = try CloudSync(
            database, container: container, models: [.model(type, collection: "todos")], zone: "todos",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 5))
        return (database, sync)
    }

    private func set(_ object: some Codable & Sendable, in database: YapDatabase) throws {
        try database.newConnection().blocking.readWrite {
            try $0.setObject(object, forKey: "1", inCollection: "todos")
        }
    }

    /// The object that `set` has set.
    private func stored<Object: Codable & Sendable>(_ type: Object.Type, in database: YapDatabase) throws
        -> Object?
    {
        try database.newConnection().blocking.read {
            try $0.object(type, forKey: "1", inCollection: "todos")
        }
    }

    /// Opens the file as a version of the app that has just fetched what the laptop has set.
    private func openFetched<Model: CloudModel>(
        _ type: Model.Type, _ path: String, _ container: CKContainer, after todo: Todo
    ) throws -> (YapDatabase, CloudSync) {
        laptop.syncNow()
        try laptop.set(todo, "1")
        laptop.syncNow()
        let (database, sync) = try open(type, path, container)
        #expect(sync.syncNowInline().state == .idle)
        return (database, sync)
    }

    @Test("112. a field that is new in the model is uploaded from every row")
    func aFieldThatIsNewInTheModel() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(EarlierTodo.self, path, container)
        try set(EarlierTodo(title: "eggs", note: "six"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "eggs"))
        try database.blocking.close()
        (database, sync) = try open(Todo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "eggs", note: "six"))
        try database.blocking.close()
    }

    @Test(
        "154. pending values of a field are restored to a row that a version without the field created again")
    func aRowThatAVersionWithoutTheFieldMadeAnew() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(Todo.self, path, container)
        try set(Todo(title: "eggs", priority: 7, note: "six"), in: database)
        try database.blocking.close()
        (database, sync) = try open(EarlierTodo.self, path, container)
        try set(EarlierTodo(title: "brown eggs"), in: database)
        try database.blocking.close()
        (database, sync) = try open(Todo.self, path, container)
        let here = try stored(Todo.self, in: database)
        #expect(here == Todo(title: "brown eggs", priority: 7, note: "six"))
        #expect(sync.syncNowInline().state == .idle)
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "brown eggs", priority: 7, note: "six"))
        try database.blocking.close()
    }

    @Test(
        "162. a counter or a list that an earlier version kept in its rows is merged with others' later changes"
    )
    func valuesThatAnEarlierVersionKept() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        let (there, otherSync) = try open(
            CountedTodo.self, folder.file("other.yap"), cloud.device(user: "ada").container)
        var (database, sync) = try open(CountedTodo.self, path, container)
        try set(CountedTodo(title: "eggs", visits: 5, tags: ["food", "white"]), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        // The earlier version stores the row, and another device adds to both and removes an element.
        (database, sync) = try open(PlainTodo.self, path, container)
        try set(PlainTodo(title: "brown eggs"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        #expect(otherSync.syncNowInline().state == .idle)
        try set(CountedTodo(title: "brown eggs", visits: 8, tags: ["food", "cold"]), in: there)
        #expect(otherSync.syncNowInline().state == .idle)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        // The later version has the values in its rows at once, and an edit changes those.
        (database, sync) = try open(CountedTodo.self, path, container)
        var todo = try #require(try stored(CountedTodo.self, in: database))
        #expect(todo == CountedTodo(title: "brown eggs", visits: 5, tags: ["food", "white"]))
        todo.visits += 1
        todo.tags.append("new")
        try set(todo, in: database)
        #expect(sync.syncNowInline().state == .idle)
        #expect(otherSync.syncNowInline().state == .idle)
        for database in [database, there] {
            let merged = try #require(try stored(CountedTodo.self, in: database))
            #expect(merged.visits == 9)
            #expect(Set(merged.tags) == ["food", "cold", "new"])
            try database.blocking.close()
        }
    }

    @Test(
        "163. a field that returns with a later version has its synced value, and isn't new")
    func aFieldThatComesBack() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        let (there, otherSync) = try open(
            CountedTodo.self, folder.file("other.yap"), cloud.device(user: "ada").container)
        var (database, sync) = try open(CountedTodo.self, path, container)
        try set(CountedTodo(title: "eggs", visits: 5, tags: ["food", "white"], color: "red"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        #expect(otherSync.syncNowInline().state == .idle)
        try set(CountedTodo(title: "eggs", visits: 8, tags: ["food"], color: "blue"), in: there)
        #expect(otherSync.syncNowInline().state == .idle)
        // The earlier version fetches, and stores the row for nothing.
        (database, sync) = try open(PlainTodo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(CountedTodo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        #expect(otherSync.syncNowInline().state == .idle)
        for database in [database, there] {
            #expect(
                try stored(CountedTodo.self, in: database)
                    == CountedTodo(title: "eggs", visits: 8, tags: ["food"], color: "blue"))
            try database.blocking.close()
        }
    }

    @Test func whatWasKeptAndNeverSyncedIsSentWhenItBecomesAField() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(ColoredInside.self, path, container)
        try set(ColoredInside(title: "eggs", color: "red"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(PlainTodo.self, path, container)
        try set(PlainTodo(title: "brown eggs"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(ColoredTodo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try color(database) == ["red", "red"])
        try database.blocking.close()
    }

    @Test func whatAnEarlierVersionOnlyKeptIsNotSentAsNew() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(CountedTodo.self, path, container)
        try set(CountedTodo(title: "eggs", visits: 5, tags: ["food"]), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(PlainTodo.self, path, container)
        try set(PlainTodo(title: "brown eggs"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(CountedTodo.self, path, container)
        let waitingCount = try database.newConnection().blocking.read {
            try $0.ext("cloudKit", as: YapDatabaseCloudKit.self).numberOfPendingChanges()
        }
        #expect(waitingCount == 0)
        #expect(sync.syncNowInline().state == .idle)
        #expect(
            try stored(CountedTodo.self, in: database)
                == CountedTodo(title: "brown eggs", visits: 5, tags: ["food"]))
        try database.blocking.close()
    }

    @Test("158. an edit of a field that is new in the model, made before the zone was fetched again, is kept")
    func anEditOfAFieldThatIsNewInTheModel() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(PlainTodo.self, path, container)
        try set(PlainTodo(title: "eggs"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        // The server has no color yet, and the row the default one.
        (database, sync) = try open(ColoredTodo.self, path, container)
        try set(ColoredTodo(title: "eggs", color: "red"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try color(database) == ["red", "red"])
        try database.blocking.close()
        // The server has a color, which the earlier version took out of the row.
        (database, sync) = try open(PlainTodo.self, path, container)
        try set(PlainTodo(title: "brown eggs"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(ColoredTodo.self, path, container)
        try set(ColoredTodo(title: "brown eggs", color: "blue"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try color(database) == ["blue", "blue"])
        try database.blocking.close()
    }

    @Test("175. kept values of a record that an earlier version recreated are sent with it")
    func aRecordThatAnEarlierVersionMadeAgain() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try open(ColoredTodo.self, path, container)
        try set(ColoredTodo(title: "eggs", color: "red"), in: database)
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        (database, sync) = try open(PlainTodo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        sync.suspend()
        try set(PlainTodo(title: "brown eggs"), in: database)
        laptop.syncNow()
        try laptop.remove("1")
        #expect(laptop.syncNow().state == .idle)
        // The edit beats the deletion, and isn't sent before the later version is back.
        sync.syncNowInline()
        try database.blocking.close()
        (database, sync) = try open(ColoredTodo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        #expect(try color(database) == ["red", "red"])
        try database.blocking.close()
    }

    /// The color that the file has, and the one that a new device fetches.
    private func color(_ database: YapDatabase) throws -> [String?] {
        let path = folder.file(UUID().uuidString)
        let (there, sync) = try open(ColoredTodo.self, path, cloud.device(user: "ada").container)
        sync.syncNowInline()
        let colors = try [database, there].map { database in
            try stored(ColoredTodo.self, in: database)?.color
        }
        try there.blocking.close()
        return colors
    }

    @Test func aFieldThatIsNewInTheModelDoesNotOverwriteWhatNewerDevicesHaveInIt() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try openFetched(
            EarlierTodo.self, path, container, after: Todo(title: "eggs", isDone: true, note: "six"))
        try database.blocking.close()
        (database, sync) = try open(Todo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        let here = try stored(Todo.self, in: database)
        #expect(here == Todo(title: "eggs", isDone: true, note: "six"))
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "eggs", isDone: true, note: "six"))
        try database.blocking.close()
    }

    @Test("160. a new version of the model fetches a zone anew of which records are known and no token")
    func aNewVersionFetchesAZoneWithoutAToken() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try openFetched(
            EarlierTodo.self, path, container, after: Todo(title: "eggs", isDone: true, note: "six"))
        sync.suspend()
        try set(EarlierTodo(title: "brown eggs"), in: database)
        for user in ["_eve", "_ada"] {
            let userRecordID = CKRecord.ID(recordName: user)
            _ = try sync.useAccountInline(of: userRecordID, objectsOfOtherAccount: .remove)
        }
        // The edit waits with the tag of the server's version, of which the row that is made now has nothing.
        try set(EarlierTodo(title: "white eggs"), in: database)
        try database.blocking.close()
        (database, sync) = try open(Todo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        let here = try stored(Todo.self, in: database)
        #expect(here == Todo(title: "white eggs", isDone: true, note: "six"))
        laptop.syncNow()
        #expect(try laptop.todo("1") == here)
        try database.blocking.close()
    }

    @Test("161. a pending edit is restored to a row that was written by a version which couldn't read it")
    func anEditThatAnEarlierVersionCouldNotRead() throws {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try openFetched(
            Todo.self, path, container, after: Todo(title: "eggs", note: "six"))
        // Of the note that waits, the next version finds none in the row.
        sync.suspend()
        try set(Todo(title: "eggs", note: "twelve"), in: database)
        try database.blocking.close()
        (database, sync) = try open(RenamedTodo.self, path, container)
        var todo = try #require(try stored(RenamedTodo.self, in: database))
        todo.title = "brown eggs"
        try set(todo, in: database)
        #expect(sync.syncNowInline().state == .idle)
        #expect(
            try stored(RenamedTodo.self, in: database) == RenamedTodo(title: "brown eggs", comment: "twelve"))
        try database.blocking.close()
        laptop.syncNow()
        #expect(try laptop.todo("1") == Todo(title: "brown eggs", note: "twelve"))
    }

    /// A todo of the laptop on a device of an earlier version, which is opened again with this one after `meanwhile`.
    /// - Returns: What the device has in the end, and how many uploads it made.
    private func afterAnUpgrade(
        unsynced change: (inout NotedTodo) -> Void = { _ in }, meanwhile: () throws -> Void
    ) throws -> (todo: Todo?, writes: Int) {
        let path = folder.file("todos.yap")
        let container = cloud.device(user: "ada").container
        var (database, sync) = try openFetched(
            NotedTodo.self, path, container, after: Todo(title: "eggs", note: "six"))
        try database.newConnection().blocking.readWrite { transaction in
            var todo = try #require(
                try transaction.object(NotedTodo.self, forKey: "1", inCollection: "todos"))
            change(&todo)
            try transaction.setObject(todo, forKey: "1", inCollection: "todos")
        }
        #expect(sync.syncNowInline().state == .idle)
        try database.blocking.close()
        try meanwhile()
        laptop.syncNow()
        let writes = cloud.requestCount(.modifyRecords)
        (database, sync) = try open(Todo.self, path, container)
        #expect(sync.syncNowInline().state == .idle)
        let sent = cloud.requestCount(.modifyRecords) - writes
        laptop.syncNow()
        let here = try stored(Todo.self, in: database)
        try database.blocking.close()
        return (here, sent)
    }

    @Test(
        "128. a row's values of fields of the previous version don't overwrite another device's change"
    )
    func whatTheVersionBeforeHadIsNotUploadedAgain() throws {
        let (here, writes) = try afterAnUpgrade {
            try laptop.edit("1") { todo in
                todo.note = nil
                todo.isDone = true
            }
        }
        #expect(here == Todo(title: "eggs", isDone: true))
        #expect(try laptop.todo("1") == here)
        #expect(writes == 0, "the version before had nothing that the cloud lacks")
    }

    @Test("128. a record whose version is known has its new fields uploaded, and taken over, all the same")
    func newFieldsOfAKnownVersion() throws {
        let (here, writes) = try afterAnUpgrade(unsynced: { $0.isDone = true }, meanwhile: {})
        #expect(here == Todo(title: "eggs", note: "six"), "the laptop had said that it isn't done")
        #expect(try laptop.todo("1") == here)
        #expect(writes == 0)
    }

    @Test("130. a record that another device deleted before the upgrade is deleted after it")
    func whatWasDeletedBeforeTheUpgrade() throws {
        #expect(try afterAnUpgrade { try laptop.remove("1") }.todo == nil)
        #expect(try laptop.todo("1") == nil)
    }

    @Test(
        "130. deleted before the upgrade, but with a value of a new field here: the whole record is restored")
    func whatWasDeletedBeforeTheUpgradeAndHasNewValues() throws {
        let here = try afterAnUpgrade(unsynced: { $0.priority = 3 }, meanwhile: { try laptop.remove("1") })
            .todo
        #expect(here == Todo(title: "eggs", priority: 3, note: "six"))
        #expect(try laptop.todo("1") == here)
    }
}

/// A todo before it had a color, and with one.
private struct PlainTodo: CloudModel {
    var title = ""

    static let recordType = "todo"
    static let fields = CloudFields<PlainTodo> { $0.field(\.title) }
}

/// With a color that stays on the device.
private struct ColoredInside: CloudModel {
    var title = ""
    var color = "white"

    static let recordType = "todo"
    static let fields = CloudFields<ColoredInside> { $0.field(\.title) }
}

private struct CountedTodo: CloudModel, Equatable {
    var title = ""
    var visits = 0
    var tags: [String] = []
    var color = ""

    static let recordType = "todo"
    static let fields = CloudFields<CountedTodo> {
        $0.field(\.title)
        $0.field(\.visits).summed()
        $0.field(\.tags).mergedAsSet()
        $0.field(\.color)
    }
}

private struct ColoredTodo: CloudModel {
    var title = ""
    var color = "white"

    static let recordType = "todo"
    static let fields = CloudFields<ColoredTodo> {
        $0.field(\.title)
        $0.field(\.color)
    }
}
