import CloudKit
import CloudKitTesting
import Foundation
import Testing
import TodoKit
import YapCloudKit

/// The list on two devices: what of an item is in the cloud, under which name, and what a person is told of conflicts.
@Suite struct TodoSyncTests {
    private let folder = FileManager.default.temporaryDirectory.appending(component: "yap-todo-\(UUID())")

    private func withDevices(_ body: (TodoList, TodoList, CKDatabase) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let cloud = TestCloud(execution: .threads)
        let (one, other) = (cloud.device(user: "ada"), cloud.device(user: "ada"))
        let phone = try await TodoList(path: folder.path + "/phone.yap", container: one.container)
        let laptop = try await TodoList(path: folder.path + "/laptop.yap", container: other.container)
        try await body(phone, laptop, one.container.privateCloudDatabase)
        try await phone.close()
        try await laptop.close()
    }

    @Test func allButThePinIsInTheCloudUnderTheCloudsNames() async throws {
        try await withDevices { phone, laptop, database in
            var todo = Todo(line: "(A) 2026-01-31 Paint the door +home color:#cc2222", order: 1)
            todo.isPinned = true
            try await phone.add([("1", todo)])
            #expect(await phone.sync.syncNow().state == .idle)
            let record = try await database.record(
                for: CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID))
            #expect(
                record.allKeys().sorted() == ["color", "completed", "created", "order", "priority", "title"])
            #expect(record["color"] == "#cc2222" && record["created"] == "2026-01-31")
            #expect(record["title"] == "Paint the door +home")

            #expect(await laptop.sync.syncNow().state == .idle)
            let theirs = try await laptop.todos()["1"]
            #expect(theirs?.line == todo.line)
            #expect(theirs?.isPinned == false)
            // A pin sends nothing, and what another device changes leaves it.
            try await laptop.change("1") { $0.isPinned = true }
            #expect(try await laptop.pendingChangesCount() == 0)
            try await phone.change("1") { $0.color = nil }
            _ = await phone.sync.syncNow()
            _ = await laptop.sync.syncNow()
            #expect(try await laptop.todos()["1"]?.color == nil)
            #expect(try await laptop.todos()["1"]?.isPinned == true)
        }
    }

    @Test func ofAConflictThePersonLearnsWhatWasDroppedAndWhatStandsAndWhose() async throws {
        try await withDevices { phone, laptop, _ in
            try await phone.add([("1", Todo(title: "Paint the door"))])
            _ = await phone.sync.syncNow()
            _ = await laptop.sync.syncNow()
            // Held back, so that the phone is first whichever thread is faster.
            laptop.sync.suspend()
            try await laptop.change("1") { $0.color = TodoColor(named: "blue") }
            try await phone.change("1") { $0.color = TodoColor(named: "red") }
            _ = await phone.sync.syncNow()
            laptop.sync.resume()
            _ = await laptop.sync.syncNow()
            #expect(try await laptop.todos()["1"]?.color == TodoColor(named: "red"))
            var entries = laptop.sync.mergeLog.makeAsyncIterator()
            let entry = try #require(await entries.next())
            #expect(
                TodoConflict(entry).sentence(there: "the phone")
                    == "the colour: the phone was first, “red” is kept; “blue” of this device is dropped")
        }
    }

    @Test func aLongValueIsShortenedInTheMiddle() {
        let conflict = TodoConflict(
            key: "1", rule: "remoteWon", field: "title", dropped: String(repeating: "a", count: 40) + "z",
            kept: nil)
        let short = String(repeating: "a", count: 16) + "…" + String(repeating: "a", count: 15) + "z"
        #expect(conflict.sentence().contains("“\(short)” of this device is dropped"))
    }

    @Test(arguments: [
        ("remoteWon", "the title: another device was first, “b” is kept; “a” of this device is dropped"),
        ("localKept", "the title: “b” of this device is kept; “a” of another device is replaced"),
        ("merged", "the title: both changed it, and “b” was made of both; this device had “a”"),
        ("superseded", "the title: “a” of this device need not be sent, its own “b” came later"),
        ("editBeatDeletion", "another device deleted it, but this device had edited it: it is created again"),
        ("deletionDropped", "this device deleted it, but another device had edited it: it comes back"),
        ("deletedRemotely", "another device deleted it: the title “a” of this device is dropped"),
        ("serverWasReset", "the server had lost a change: what this device has is sent again"),
    ])
    func everyRuleHasASentence(rule: String, sentence: String) {
        let conflict = TodoConflict(key: "1", rule: rule, field: "title", dropped: "a", kept: "b")
        #expect(conflict.sentence() == sentence)
    }
}
