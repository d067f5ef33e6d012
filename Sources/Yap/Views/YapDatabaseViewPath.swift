/// The position of a row in a list with sections: a section and a row in it, both counted from 0.
public struct YapDatabaseViewPath: Hashable, Comparable, Sendable {
    /// Index of the section.
    public var section: Int
    /// Index of the row in its section.
    public var row: Int

    /// Creates the path of a row.
    public init(section: Int, row: Int) {
        self.section = section
        self.row = row
    }

    /// Compares by section, then by row.
    public static func < (left: Self, right: Self) -> Bool {
        (left.section, left.row) < (right.section, right.row)
    }
}

extension YapDatabaseViewPath: CustomStringConvertible {
    /// The section and the row: `(0, 7)`.
    public var description: String { "(\(section), \(row))" }
}
