import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import SQLiteTestSupport
import System
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
        try await device.database.close()
    }

    @Test func quarantinedChangesAreShownWithTheirReason() async throws {
        let device = try Device(path, cloud)
        device.sync.syncNowInline()
        cloud.fail(.modifyRecords, with: .permissionFailure, times: 1)
        try device.set("Milk", "1")
        device.sync.syncNowInline()
        let shown = try await inspect("phone.yap").output
        #expect(shown.contains("1 change quarantined"))
        let line = "save todo 1 in todos, tag none: isDone, title; rejected by the server: "
        #expect(shown.contains(line + "permissionFailure: \"Ordered by the test.\"\n"))
        #expect(shown.contains("quarantined, until the app sets the object again"))
        try await device.database.close()
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
        try await device.database.close()
    }

    @Test func severalRegistrationsAreShownAndOneCanBeChosen() async throws {
        let device = try Device(path, cloud, names: ["first", "second"])
        let both = try await inspect("phone.yap").output
        #expect(both.contains("\nfirst: tables") && both.contains("\nsecond: tables"))
        let one = try await inspect("phone.yap", "--name", "second").output
        #expect(!one.contains("first") && one.contains("\nsecond: tables"))
        let none = try await inspect("phone.yap", "--name", "third")
        #expect(none.code == 3 && none.errors.contains("registered as third: first, second"))
        try await device.database.close()
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
        try await device.database.close()
    }

    @Test func inspectingChangesNothing() async throws {
        let device = try Device(path, cloud)
        device.sync.syncNowInline()
        try device.set("Milk", "1")
        try await device.database.close()
        let before = try Data(contentsOf: URL(filePath: path))
        #expect(try await inspect("phone.yap").code == 0)
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        // The app opens it as if nothing had been there.
        let again = try Device(path, cloud)
        try again.set("Eggs", "2")
        try await again.database.close()
    }

    /// Runs `yap sync inspect` as a user who is neither root nor the owner of the files, where the test may.
    private func inspectAsAnotherUser(_ file: String) async throws -> YapProcess.Ended {
        let user = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
        return try await YapProcess.shell("\(user)yap sync inspect \(file)", in: folder)
    }

    private func names(in place: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(place)).sorted()
    }

    /// A closed database in a folder of its own.
    private func closedDevice(in place: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: folder.file(place), withIntermediateDirectories: true)
        let path = folder.file("\(place)/phone.yap")
        let device = try Device(path, cloud)
        try device.set("Milk", "1")
        try device.database.blocking.close()
        return path
    }

    @Test func aClosedFileThatMayOnlyBeReadIsShownAndNothingIsLeftBesideIt() async throws {
        let path = try closedDevice(in: "place")
        for mode: mode_t in [0o555, 0o777] {
            #expect(chmod(path, 0o444) == 0 && chmod(folder.file("place"), mode) == 0)
            let ended = try await inspectAsAnotherUser("place/phone.yap")
            #expect(ended.code == 0 && ended.output.contains("queue: 1 change in 1 change-set"), "\(ended)")
            #expect(try names(in: "place") == ["phone.yap"])
        }
        #expect(chmod(path, 0o644) == 0)
        let again = try Device(path, cloud)
        try again.set("Eggs", "2")
        try await again.database.close()
    }

    @Test func anOpenFileThatMayOnlyBeReadIsShownWithWhatIsInItsLog() async throws {
        let path = try closedDevice(in: "place")
        let device = try Device(path, cloud)
        try device.set("Eggs", "2")
        for name in try names(in: "place") { #expect(chmod(folder.file("place/\(name)"), 0o444) == 0) }
        #expect(chmod(folder.file("place"), 0o555) == 0)
        let ended = try await inspectAsAnotherUser("place/phone.yap")
        #expect(ended.code == 0 && ended.output.contains("queue: 2 changes in 2 change-sets"), "\(ended)")
        #expect(chmod(folder.file("place"), 0o755) == 0)
        try await device.database.close()
    }

    @Test func aPermissionThatIsMissingIsNamedWithItsFileOrFolder() async throws {
        let path = try closedDevice(in: "place")
        func refused(_ file: String, _ words: String) async throws {
            let ended = try await inspectAsAnotherUser(file)
            #expect(ended.code == 1 && ended.output.isEmpty && ended.errors.contains(words), "\(ended)")
        }
        #expect(chmod(path, 0o000) == 0)
        try await refused("place/phone.yap", "no permission to read (r) the file ")
        try await refused("place/phone.yap", "place/phone.yap.\n")
        #expect(chmod(path, 0o444) == 0 && chmod(folder.file("place"), 0o600) == 0)
        try await refused("place/phone.yap", "no permission to enter (x) the folder ./place.\n")
        #expect(chmod(path, 0o644) == 0 && chmod(folder.file("place"), 0o755) == 0)

        let device = try Device(path, cloud)
        try device.set("Eggs", "2")
        #expect(chmod(path + "-shm", 0o000) == 0 && chmod(path + "-wal", 0o444) == 0)
        #expect(chmod(path, 0o444) == 0 && chmod(folder.file("place"), 0o555) == 0)
        try await refused("place/phone.yap", "place/phone.yap-shm: its log is part of the database.\n")
        #expect(chmod(folder.file("place"), 0o755) == 0)

        // As a copy is without the index that is made anew.
        try FileManager.default.createDirectory(
            atPath: folder.file("copy"), withIntermediateDirectories: true)
        for end in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: folder.file("copy/phone.yap" + end))
            #expect(chmod(folder.file("copy/phone.yap" + end), 0o444) == 0)
        }
        #expect(chmod(folder.file("copy"), 0o555) == 0)
        try await refused("copy/phone.yap", "no permission to write (w) into the folder ")
        #expect(chmod(folder.file("copy"), 0o755) == 0)
        try await device.database.close()
    }

    @Test func whatIsNoDatabaseWithASyncIsSaidInWords() async throws {
        let text = folder.file("text"), songs = folder.file("songs")
        let plain = folder.file("plain.yap"), older = folder.file("older.yap")
        try Data(repeating: 0x41, count: 5000).write(to: URL(filePath: text))
        try Connection(path: songs).execute("CREATE TABLE songs (title TEXT)")
        try await YapDatabase(path: plain) { $0.register(Todo.self, inCollection: "todos") }.close()
        let device = try Device(older, cloud)
        try await device.database.close()
        try Connection(path: older).execute(
            "UPDATE yap2 SET data = CAST('2' AS BLOB) WHERE extension = 'cloudKit' AND key = 'classVersion'")
        let cases = [
            ("absent", "is not there", 3), ("text", "is no database, or an encrypted one", 1),
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
        try await device.database.close()
    }

    @Test func storedTextCannotSteerTheTerminal() {
        #expect(Shown.word("todo-1") == "todo-1")
        #expect(Shown.word("a b") == "\"a b\"")
        #expect(!Shown.word("a\u{1B}[2J").unicodeScalars.contains("\u{1B}"))
    }
}
