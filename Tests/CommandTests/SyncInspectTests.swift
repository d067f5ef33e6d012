import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import SQLiteTestSupport
import Seams
import Testing
import Yap
import YapCloudKit

@testable import YapCommand

/// `yap sync inspect` beside the app that has the file open.
@Suite struct SyncInspectTests {
    struct Todo: CloudModel, Equatable {
        var title = ""
        var isDone = false
        static let recordType = "todo"
        static let fields = CloudFields<Todo> {
            $0.field(\.title)
            $0.field(\.isDone)
        }
    }

    private let folder: TemporaryFolder
    private let cloud = TestCloud()

    init() throws {
        folder = try TemporaryFolder()
    }

    /// An app's device on the test's thread, whose database stays open.
    private final class Device {
        let database: YapDatabase
        let sync: CloudSync
        let device: TestDevice

        init(_ path: String, _ cloud: TestCloud, names: [String] = ["cloudKit"]) throws {
            database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            let device = cloud.device(user: "ada")
            self.device = device
            let syncs = try names.map { [database] name in
                try CloudSync(
                    database, container: device.container, models: [.model(Todo.self, collection: "todos")],
                    zone: "todos", name: name, scheduler: ManualScheduler(clock: cloud.clock),
                    clock: cloud.clock, random: SeededRandomSource(seed: 1))
            }
            sync = syncs[0]
        }

        func set(_ title: String, _ key: String) throws {
            try database.newConnection().blocking.readWrite {
                try $0.setObject(Todo(title: title), forKey: key, inCollection: "todos")
            }
        }

        /// As the queue stands while an operation has it.
        func markInFlight() throws {
            try database.newConnection().blocking.readWrite {
                try $0.sqlite.execute("UPDATE cloudKit_changeset_cloudKit SET in_flight = 1")
            }
        }

        func remove(_ key: String) throws {
            try database.newConnection().blocking.readWrite {
                try $0.removeObject(forKey: key, inCollection: "todos")
            }
        }
    }

    private func inspect(_ words: String...) async throws -> YapProcess.Ended {
        try await YapProcess.run(["sync", "inspect"] + words, in: folder)
    }

    private var path: String { folder.file("phone.yap") }

    @Test func theQueueTheZonesAndTheErrorsAreShownBesideTheApp() async throws {
        let device = try Device(path, cloud)
        try device.set("Milk", "1")
        try device.set("Eggs", "2")
        device.sync.syncNowInline()
        cloud.networkFault = { _ in .loseRequest }
        try device.set("Oat milk", "1")
        try device.remove("2")
        device.sync.syncNowInline()
        let ended = try await inspect("phone.yap", "--records", "10")
        #expect(ended.code == 0 && ended.errors.isEmpty, "\(ended)")
        let shown = ended.output
        #expect(shown.hasPrefix("phone.yap: commit "))
        #expect(shown.contains("\ncloudKit: tables of version \(YapDatabaseCloudKit.classVersion), "))
        #expect(shown.contains("account 1, the current one"))
        #expect(shown.contains("the private database, of user _ada\n"))
        #expect(shown.contains("queue: 2 changes in 2 change-sets, 0 in flight\n"))
        #expect(shown.contains(/save todo 1 in todos, tag [0-9a-z.]+: title\n/))
        #expect(shown.contains(/delete todo 2 in todos, tag [0-9a-z.]+\n/))
        #expect(shown.contains(/zone todos: 2 records, 2 with a change tag; token [^ ]+\n/))
        #expect(shown.contains(/\n +todo 1, tag [0-9a-z.]+, 1 row\n/))
        #expect(shown.contains(/last errors:\n +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  networkFailure  "/))
        try device.database.close()
    }

    @Test func whatWasPutAsideIsShownWithItsReason() async throws {
        let device = try Device(path, cloud)
        device.sync.syncNowInline()
        cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
        try device.set("Milk", "1")
        device.sync.syncNowInline()
        let shown = try await inspect("phone.yap").output
        #expect(shown.contains("1 change put aside"))
        let line = "save todo 1 in todos, tag none: isDone, title; refused by the server: "
        #expect(shown.contains(line + "permissionFailure: \"Ordered by the test.\"\n"))
        #expect(shown.contains("put aside, until the app sets the object again"))
        try device.database.close()
    }

    @Test func aChangeSetInFlightAndRecordsOfUnknownTypesAreShown() async throws {
        let device = try Device(path, cloud)
        let other = CKRecord(
            recordType: "note",
            recordID: CKRecord.ID(recordName: "n", zoneID: CKRecordZone.ID(zoneName: "todos")))
        device.sync.syncNowInline()
        device.device.container.privateCloudDatabase.add(CKModifyRecordsOperation(recordsToSave: [other]))
        device.sync.syncNowInline()
        try device.set("Milk", "1")
        try device.markInFlight()
        let shown = try await inspect("phone.yap").output
        #expect(shown.contains("the private database, of user _ada\n"))
        #expect(shown.contains("queue: 1 change in 1 change-set, 1 in flight"))
        #expect(shown.contains(/change-set \d+ [^ ]+, in flight\n/))
        #expect(shown.contains(/of types that the app doesn't know yet:\n +note n, tag [0-9a-z.]+\n/))
        try device.database.close()
    }

    @Test func severalRegistrationsAreShownAndOneCanBeChosen() async throws {
        let device = try Device(path, cloud, names: ["first", "second"])
        let both = try await inspect("phone.yap").output
        #expect(both.contains("\nfirst: tables") && both.contains("\nsecond: tables"))
        let one = try await inspect("phone.yap", "--name", "second").output
        #expect(!one.contains("first") && one.contains("\nsecond: tables"))
        let none = try await inspect("phone.yap", "--name", "third")
        #expect(none.code == 3 && none.errors.contains("registered as third: first, second"))
        try device.database.close()
    }

    @Test func theJSONHasTheKeysOfItsHelp() async throws {
        let device = try Device(path, cloud)
        device.sync.syncNowInline()
        cloud.networkFault = { _ in .loseRequest }
        try device.set("Milk", "1")
        device.sync.syncNowInline()
        let ended = try await inspect("phone.yap", "--json", "--records", "5")
        let all = try #require(
            try JSONSerialization.jsonObject(with: Data(ended.output.utf8)) as? [String: Any], "\(ended)")
        let sync = try #require((all["syncs"] as? [[String: Any]])?.first)
        let account = try #require((sync["accounts"] as? [[String: Any]])?.first)
        let database = try #require((account["databases"] as? [[String: Any]])?.first)
        let pending = try #require(database["pending"] as? [String: Any])
        for keys in [all.keys.sorted(), sync.keys.sorted(), account.keys.sorted(), database.keys.sorted()] {
            for key in keys { #expect(SyncCommands.inspect.json.contains("\"\(key)\""), "\(key)") }
        }
        #expect(pending["changes"] as? Int == 1 && pending["changeSets"] as? Int == 1)
        let set = try #require((database["changeSets"] as? [[String: Any]])?.first)
        let change = try #require((set["changes"] as? [[String: Any]])?.first)
        #expect(change["recordName"] as? String == "1" && change["keys"] as? [String] == ["isDone", "title"])
        #expect((database["errors"] as? [[String: Any]])?.first?["name"] as? String == "networkFailure")
        #expect((database["zones"] as? [[String: Any]])?.first?["zoneName"] as? String == "todos")
        try device.database.close()
    }

    @Test func inspectingChangesNothing() async throws {
        let device = try Device(path, cloud)
        device.sync.syncNowInline()
        try device.set("Milk", "1")
        try device.database.close()
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(try await inspect("phone.yap").code == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        // The app opens it as if nothing had been there.
        let again = try Device(path, cloud)
        try again.set("Eggs", "2")
        try again.database.close()
    }

    @Test func whatIsNoDatabaseWithASyncIsSaidInWords() async throws {
        let text = folder.file("text"), songs = folder.file("songs")
        let plain = folder.file("plain.yap"), older = folder.file("older.yap")
        try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: text))
        try Connection(path: songs).execute("CREATE TABLE songs (title TEXT)")
        try YapDatabase(path: plain) { $0.register(Todo.self, inCollection: "todos") }.close()
        let device = try Device(older, cloud)
        try device.database.close()
        try Connection(path: older).execute(
            "UPDATE yap2 SET data = CAST('2' AS BLOB) WHERE extension = 'cloudKit' AND key = 'classVersion'")
        let cases = [
            ("absent", "is not there", 3), ("text", "is no database.", 1),
            ("songs", "no database of an app", 1),
            ("plain.yap", "has no sync", 3), ("older.yap", "start the app once", 1),
        ]
        for (file, words, code) in cases {
            let ended = try await inspect(file)
            #expect(ended.code == code && ended.output.isEmpty, "\(file)")
            #expect(ended.errors.hasPrefix("yap: ") && ended.errors.contains(words), "\(ended.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("absent")))
    }

    @Test func theHelpsExampleWorksWhenTyped() async throws {
        let device = try Device(path, cloud)
        for example in SyncCommands.inspect.examples {
            let ended = try await YapProcess.shell("yap \(example)", in: folder)
            #expect(ended.code == 0 && ended.output.contains("cloudKit"), "\(example): \(ended.errors)")
        }
        try device.database.close()
    }

    @Test func storedTextCannotSteerTheTerminal() {
        #expect(Shown.word("todo-1") == "todo-1")
        #expect(Shown.word("a b") == "\"a b\"")
        #expect(!Shown.word("a\u{1B}[2J").unicodeScalars.contains("\u{1B}"))
    }
}
