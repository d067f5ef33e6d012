/// The same list in several places, item by item.
public struct TodoComparison: Sendable {
    /// One item as each place has it.
    public struct Row: Sendable {
        /// The item's key.
        public let key: String
        /// What each place has, in the order of the places; nil where it has no such item.
        public let todos: [Todo?]

        /// Whether every place has the item, with the same bytes in each field that is synced.
        public var isEqual: Bool {
            guard let first = todos.first, let first else { return false }
            return todos.allSatisfy { todo in todo.map { Row.haveSameBytes($0, first) } ?? false }
        }

        // What stays on a device is no difference between devices.
        private static func shared(_ todo: Todo) -> Todo {
            var todo = todo
            todo.isPinned = false
            return todo
        }

        // String's own equality calls "é" in one and in two scalars equal: here that is a difference.
        private static func haveSameBytes(_ left: Todo, _ right: Todo) -> Bool {
            shared(left) == shared(right) && left.title.utf8.elementsEqual(right.title.utf8)
        }
    }

    /// Every item that a place has, in the order of the list.
    public let rows: [Row]

    /// Compares what the places have under each key.
    public init(_ places: [[String: Todo]]) {
        let keys = Set(places.flatMap(\.keys))
        rows = keys.map { key in Row(key: key, todos: places.map { $0[key] }) }.sorted { left, right in
            (left.order, left.key) < (right.order, right.key)
        }
    }

    /// The items that are not the same everywhere.
    public var differences: [Row] { rows.filter { !$0.isEqual } }
}

extension TodoComparison.Row {
    fileprivate var order: Int { todos.lazy.compactMap { $0?.order }.first ?? 0 }
}
