import YapCloudKit

/// What the devices keep the same: fields with and without a value, of more than one type.
package struct Todo: Codable, Sendable, Equatable {
    package var text = ""
    package var isDone = false
    package var priority: String?
    package var creationDay: String?
    /// A field since version 2 of the app; before it, it stayed on the device.
    package var completionDay: String?
    package var order = 0.0
    /// A property since version 2 of the app: the type of version 1 lacks it.
    package var label: String?
    /// The tags of a list, which is a `TagList` where it is stored.
    package var tags: [String] = []
    /// The files of an album, which is an `Album` where it is stored: as the ledger names them.
    package var photo: String?
    package var scan: String?
    package var pages: [String] = []
    /// What a `Sample` has beside its text.
    package var sample: Sample?

    /// What version 2 of the app syncs and version 1 doesn't.
    package static let laterFields = ["completionDay", "label"]
    /// The field of a list's tags.
    package static let tagsField = "tags"

    private enum CodingKeys: CodingKey {
        case text, isDone, priority, creationDay, completionDay, order, label
    }

    package init() {}
}

extension Todo: CloudModel {
    package static let recordType = "todo"
    package static let fields = CloudFields<Todo> {
        $0.field(\.text)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.creationDay)
        $0.field(\.completionDay)
        $0.field(\.order)
        $0.field(\.label)
    }
}

/// The todo as version 1 of the app had it: its type lacks the label, and its completion day is no field.
package struct EarlierTodo: Codable, Sendable, Equatable {
    package var text = ""
    package var isDone = false
    package var priority: String?
    package var creationDay: String?
    package var completionDay: String?
    package var order = 0.0

    package init() {}

    package init(_ todo: Todo) {
        (text, isDone, priority) = (todo.text, todo.isDone, todo.priority)
        (creationDay, completionDay, order) = (todo.creationDay, todo.completionDay, todo.order)
    }

    package var todo: Todo {
        Todo(
            text: text, isDone: isDone, priority: priority, creationDay: creationDay,
            completionDay: completionDay, order: order)
    }
}

extension EarlierTodo: CloudModel {
    package static let recordType = "todo"
    package static let fields = CloudFields<EarlierTodo> {
        $0.field(\.text)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.creationDay)
        $0.field(\.order)
    }
}

/// A type that version 1 of the app doesn't know.
package struct Note: Codable, Sendable, Equatable {
    package var text = ""

    package init() {}

    package init(text: String) {
        self.text = text
    }
}

extension Note: CloudModel {
    package static let recordType = "note"
    package static let fields = CloudFields<Note> { $0.field(\.text) }
}

/// The half of a todo that lies in a row of its own, where two rows are one record.
package struct Days: Codable, Sendable, Equatable {
    package var priority: String?
    package var creationDay: String?
    package var completionDay: String?

    package init(priority: String? = nil, creationDay: String? = nil, completionDay: String? = nil) {
        (self.priority, self.creationDay, self.completionDay) = (priority, creationDay, completionDay)
    }
}

/// The same items in several places.
package struct TodoComparison {
    package struct Row {
        package let key: String
        /// nil where the place has no such item.
        package let todos: [Todo?]

        var isEqual: Bool {
            guard let first = todos.first, let first else { return false }
            return todos.allSatisfy { $0 == first }
        }
    }

    /// The items that are not the same everywhere, by their keys.
    package let differences: [Row]

    package init(_ places: [[String: Todo]]) {
        differences = Set(places.flatMap(\.keys)).sorted()
            .map { key in Row(key: key, todos: places.map { $0[key] }) }.filter { !$0.isEqual }
    }
}
