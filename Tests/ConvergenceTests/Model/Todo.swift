import YapCloudKit

/// What the devices keep the same: fields with and without a value, of more than one type.
struct Todo: Codable, Sendable, Equatable {
    var text = ""
    var isDone = false
    var priority: String?
    var creationDay: String?
    /// A field since version 2 of the app; before it, it stayed on the device.
    var completionDay: String?
    var order = 0
}

extension Todo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<Todo> {
        $0.field(\.text)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.creationDay)
        $0.field(\.completionDay)
        $0.field(\.order)
    }
}

/// The todo as version 1 of the app had it: the same properties, with one field fewer.
struct EarlierTodo: Codable, Sendable, Equatable {
    var text = ""
    var isDone = false
    var priority: String?
    var creationDay: String?
    var completionDay: String?
    var order = 0

    init() {}

    init(_ todo: Todo) {
        (text, isDone, priority) = (todo.text, todo.isDone, todo.priority)
        (creationDay, completionDay, order) = (todo.creationDay, todo.completionDay, todo.order)
    }

    var todo: Todo {
        Todo(
            text: text, isDone: isDone, priority: priority, creationDay: creationDay,
            completionDay: completionDay, order: order)
    }
}

extension EarlierTodo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<EarlierTodo> {
        $0.field(\.text)
        $0.field(\.isDone)
        $0.field(\.priority)
        $0.field(\.creationDay)
        $0.field(\.order)
    }
}

/// A type that version 1 of the app doesn't know.
struct Note: Codable, Sendable, Equatable {
    var text = ""
}

extension Note: CloudModel {
    static let recordType = "note"
    static let fields = CloudFields<Note> { $0.field(\.text) }
}

/// The half of a todo that lies in a row of its own, where two rows are one record.
struct Days: Codable, Sendable, Equatable {
    var priority: String?
    var creationDay: String?
    var completionDay: String?
}

/// The same items in several places.
struct TodoComparison {
    struct Row {
        let key: String
        /// nil where the place has no such item.
        let todos: [Todo?]

        var isEqual: Bool {
            guard let first = todos.first, let first else { return false }
            return todos.allSatisfy { todo in todo.map { Row.haveSameBytes($0, first) } ?? false }
        }

        // String's own equality calls "é" in one and in two scalars equal: here that is a difference.
        private static func haveSameBytes(_ left: Todo, _ right: Todo) -> Bool {
            left == right && left.text.utf8.elementsEqual(right.text.utf8)
        }
    }

    /// The items that are not the same everywhere, by their keys.
    let differences: [Row]

    init(_ places: [[String: Todo]]) {
        differences = Set(places.flatMap(\.keys)).sorted()
            .map { key in Row(key: key, todos: places.map { $0[key] }) }.filter { !$0.isEqual }
    }
}
