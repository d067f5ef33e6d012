import CloudKit
import CloudKitTesting
import Foundation
import Yap
import YapCloudKit

// The code of the first pages in `docs/docc`.

private struct Todo: CloudModel {
    var title = ""
    static let recordType = "todo"
    static let fields = CloudFields<Todo> { $0.field(\.title) }
}

private func yap(_ url: URL) async throws {
    let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
    let connection = database.newConnection()
    try await connection.readWrite {
        try $0.setObject(Todo(title: "Eggs"), forKey: "1", inCollection: "todos")
    }
    let todo = try await connection.read { try $0.object(Todo.self, forKey: "1", inCollection: "todos") }
    withExtendedLifetime(todo) {}
}

private func sync(_ database: YapDatabase) async throws {
    let sync = try await CloudSync(
        database, container: .default(), models: [.model(Todo.self, collection: "todos")], zone: "todos")
    withExtendedLifetime(sync) {}
}

private func cloudKit() async throws {
    let note = CKRecord(recordType: "Note", recordID: CKRecord.ID(recordName: "1"))
    note["text"] = "eggs"
    try await CKContainer.default().privateCloudDatabase.save(note)
}

private func testing(_ note: CKRecord) async throws {
    let cloud = TestCloud()
    let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
    try await phone.container.privateCloudDatabase.save(note)
    let found = try await laptop.container.privateCloudDatabase.record(for: note.recordID)
    withExtendedLifetime(found) {}
}
