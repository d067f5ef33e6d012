import CloudKit
import YapCloudKit

/// The model of these tests.
struct Todo: Codable, Sendable, Equatable {
    var title = ""
    var isDone = false
    var priority = 0
    var note: String?
    /// Not a field: it stays on the device.
    var draft = ""
}

extension Todo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<Todo> {
        $0.field(\.title)
        $0.field(\.isDone, as: "done")
        $0.field(\.priority).merged { _, local, remote in max(local, remote) }
        $0.field(\.note)
    }
}

/// The model as an earlier version of the app had it: of the same properties, only one was a field.
struct EarlierTodo: Codable, Sendable, Equatable {
    var title = ""
    var isDone = false
    var priority = 0
    var note: String?
    var draft = ""
}

extension EarlierTodo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<EarlierTodo> { $0.field(\.title) }
}

/// The model as a version of the app has it that keeps the note under another name.
struct RenamedTodo: Codable, Sendable, Equatable {
    var title = ""
    var comment: String?
}

extension RenamedTodo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<RenamedTodo> {
        $0.field(\.title)
        $0.field(\.comment, as: "note")
    }
}

/// The model as another earlier version of the app had it: with the note, but not whether it is done.
struct NotedTodo: Codable, Sendable, Equatable {
    var title = ""
    var isDone = false
    var priority = 0
    var note: String?
    var draft = ""
}

extension NotedTodo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<NotedTodo> {
        $0.field(\.title)
        $0.field(\.note)
    }
}

/// A model that a later version of the app has.
struct Note: Codable, Sendable, Equatable {
    var text = ""
}

extension Note: CloudModel {
    static let recordType = "note"
    static let fields = CloudFields<Note> { $0.field(\.text) }
}
