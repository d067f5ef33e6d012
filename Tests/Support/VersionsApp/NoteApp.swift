import CloudKit
import Foundation
import Yap
import YapCloudKit

/// One life of the app: a version of it on a file.
struct NoteApp<Note: NoteModel>: Sendable {
    private static var collection: String { "notes" }

    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let sync: CloudSync
    private let say: @Sendable (String) -> Void

    /// - Parameter say: Told of what happens, and of each value that loses against another device's:
    ///   `dropped KEY FIELD VALUE`.
    init(path: String, say: @escaping @Sendable (String) -> Void) async throws {
        self.say = say
        database = try YapDatabase(url: URL(filePath: path)) {
            $0.register(
                Note.self, inCollection: Self.collection, version: Note.version, upgrade: Note.upgrade)
        }
        connection = database.newConnection()
        sync = try await CloudSync(
            database, container: .default(), models: [.model(Note.self, collection: Self.collection)],
            zone: Self.collection)
        sync.observeMergeLog { entries in
            for entry in entries {
                guard entry.rule == .remoteWon, entry.kind == .lost || entry.kind == .superseded,
                    let field = entry.field, let dropped = entry.replaced
                else { continue }
                say("dropped \(entry.recordID.recordName) \(field) \(dropped)")
            }
        }
    }

    /// Sets the field of a note, each edit in a commit of its own, and syncs after half of them and at the end. Says
    /// what it is about to commit, and what is committed.
    func edit(_ edits: [(key: String, field: String, number: Int)]) async throws {
        for (index, edit) in edits.enumerated() {
            let words = "\(edit.key) \(edit.field) \(edit.number)"
            say("begins \(words)")
            try await connection.readWrite { transaction in
                var note =
                    try transaction.object(Note.self, forKey: edit.key, inCollection: Self.collection)
                    ?? Note()
                note.set(edit.field, to: edit.number)
                try transaction.setObject(note, forKey: edit.key, inCollection: Self.collection)
            }
            say("committed \(words)")
            if index == edits.count / 2 { say("status \(await sync.syncNow())") }
        }
        say("status \(await sync.syncNow())")
    }

    /// Syncs, and says all values of all notes.
    func show() async throws {
        say("status \(await sync.syncNow())")
        let notes = try await connection.read { transaction in
            try transaction.objects(Note.self, inCollection: Self.collection).map {
                ($0.key, $0.object.values)
            }
        }
        for (key, values) in notes.sorted(by: { $0.0 < $1.0 }) {
            for (field, value) in values.sorted(by: { $0.key < $1.key }) {
                say("value \(key) \(field) \(value)")
            }
        }
    }
}
