/// A cloud database by the app's identifier; nil is the private database of the default container.
package struct DatabaseKey: Hashable, Comparable, Sendable {
    package let identifier: String?

    package init(_ identifier: String?) {
        self.identifier = identifier
    }

    /// As it stands in a table: nil and "" are different databases, and a UNIQUE index takes no NULL.
    var column: String { identifier.map { ":" + $0 } ?? "" }

    init(column: String) {
        identifier = column.isEmpty ? nil : String(column.dropFirst())
    }

    package static func < (left: DatabaseKey, right: DatabaseKey) -> Bool {
        left.column < right.column
    }
}
