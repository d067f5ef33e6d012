import CloudKit
import CloudKitTesting
import Foundation
import Yap
import YapCloudKit

private final class Icon { var name = "" }
private final class Label { var text = "" }

private struct Device { let sync: CloudSync }

private func status(_ sync: CloudSync, _ icon: Icon, _ label: Label) async {
    for await status in sync.status {
        icon.name = status.state == .needsAttention ? "warning" : "cloud"
        label.text = status.summary
    }
}

private func mergeLog(_ sync: CloudSync) async {
    for await entry in sync.mergeLog where entry.kind == .lost {
        print("\(entry.recordID.recordName): \(entry.dropped ?? "") was lost against \(entry.kept ?? "")")
    }
}

private func files(_ sync: CloudSync, _ jpegData: Data, _ photo: CloudFile, _ key: String) async throws -> URL
{
    struct Note: CloudModel {
        var text = ""
        var photo: CloudFile?

        static let recordType = "note"
        static let fields = CloudFields<Note> {
            $0.field(\.text)
            $0.field(\.photo)
        }
    }

    var note = Note(text: "The garden in June")
    note.photo = try await sync.files.add(jpegData)
    let url = try await sync.files.fetch(photo, ofObjectForKey: key, inCollection: "notes")
    return url
}

private struct Place: CloudModel {
    var tags: [String] = []
    var visits = 0

    static let recordType = "place"
    static let fields = CloudFields<Place> {
        $0.field(\.tags).mergedAsSet()
        $0.field(\.visits).summed()
    }
}

private func quarantine(_ sync: CloudSync) async throws {
    for change in try await sync.quarantinedChanges() {
        try await sync.discardQuarantinedChanges(forRecordID: change.recordID)
    }
}

private func untilQuiet(_ phone: Device, _ laptop: Device) async throws -> TestCloud {
    let cloud = TestCloud(execution: .threads)
    // Two devices edit the same object offline, and are connected again.
    try await CloudSync.syncUntilQuiet([phone.sync, laptop.sync])
    return cloud
}

private func sync(_ database: YapDatabase) async throws {
    let sync = try await CloudSync(
        database, container: .default(), models: [.model(Todo.self, collection: "todos")], zone: "todos")
    for await status in sync.status { show(status) }
}

private func monitored() {
    final class MyTodo: MyDatabaseObject, @unchecked Sendable {
        @Monitored var title = ""
        @Monitored var isDone = false
    }
}

private func object(_ transaction: YapDatabaseReadTransaction, _ key: String) throws {
    final class MyTodo: MyDatabaseObject, @unchecked Sendable {
        @Monitored var title = ""
        @Monitored var isDone = false
        @Monitored var deviceID = ""

        override class var mappings_localKeyToCloudKey: [String: String] {
            var mappings = super.mappings_localKeyToCloudKey
            mappings["isDone"] = "completed"  // another name in the cloud
            mappings["deviceID"] = nil  // stays on the device
            return mappings
        }
    }

    let todo = try transaction.object(MyTodo.self, forKey: key, inCollection: "todos")?.copy()
    todo?.isDone = true
}
