/// Describes the columns of a full-text search. Used in the closure of `YapDatabaseFullTextSearch.init`.
public struct YapDatabaseTextColumns<Object: Sendable> {
    /// A column: a text of each object.
    struct Column: Sendable {
        /// Nil for a closure.
        let path: (any AnyKeyPath & Sendable)?
        let name: String
        let weight: Double
        let text: @Sendable (Object) -> String?
    }

    /// Maximum weight of a column: with greater ones, a score isn't a number.
    public static var weightMax: Double { 1e100 }

    /// Names that FTS5 reserves.
    private static var reservedNames: Set<String> { ["rank", "rowid", "oid", "_rowid_"] }

    private(set) var columns: [Column] = []
    /// Mistakes in the description.
    private(set) var mistakes: [String] = []

    init() {}

    /// Adds a column for a text.
    ///
    /// - Parameters:
    ///   - path: The property.
    ///   - name: The column's name in the file and in `.expression`. Default: the property's name, with `_` for each
    ///     `.`. Required for a computed property, and in builds without reflection metadata.
    ///   - weight: How much a match in this column adds to the score, relative to the other columns: from 0 to
    ///     `weightMax`.
    public mutating func column(
        _ path: any KeyPath<Object, String> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { $0[keyPath: path] }
    }

    /// Adds a column for a text that may be nil. Parameters as the other form.
    public mutating func column(
        _ path: any KeyPath<Object, String?> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { $0[keyPath: path] }
    }

    /// Adds a column for a list of texts, which are joined with line breaks. Parameters as the other form.
    public mutating func column(
        _ path: any KeyPath<Object, [String]> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { $0[keyPath: path].joined(separator: "\n") }
    }

    /// Adds a column for a text that a closure computes.
    ///
    /// - Parameters:
    ///   - name: The column's name in the file, in `.expression` and in `in(_:)`.
    ///   - weight: As in the other form.
    ///   - text: Returns the text of an object, or nil for none. Change the search's version with it.
    public mutating func column(
        _ name: String, weight: Double = 1, _ text: @escaping @Sendable (_ object: Object) -> String?
    ) {
        add(nil, name, weight, text)
    }

    private mutating func add(
        _ path: (any AnyKeyPath & Sendable)?, _ name: String?, _ weight: Double,
        _ text: @escaping @Sendable (Object) -> String?
    ) {
        if let path, columns.contains(where: { $0.path == path }) {
            mistakes.append("\(path) is a column twice")
        }
        guard let name = name ?? path.flatMap(YapDatabaseIndexColumns<Object>.name) else {
            mistakes.append("a property has no name here: use column(path, \"name\")")
            return
        }
        if let mistake = mistake(in: name) { mistakes.append(mistake) }
        if !(0...Self.weightMax).contains(weight) {
            mistakes.append(
                "the weight of the column \(name) is \(weight): use a number from 0 to \(Self.weightMax)")
        }
        columns.append(Column(path: path, name: name, weight: weight, text: text))
    }

    private func mistake(in name: String) -> String? {
        let isAllowed = { (character: Character) in
            character.isASCII && (character.isLetter || character.isNumber || character == "_")
        }
        if name.isEmpty || !name.allSatisfy(isAllowed) {
            return "a column can't be called \"\(name)\": use letters of ASCII, digits and _"
        }
        if Self.reservedNames.contains(name.lowercased()) {
            return "a column can't be called \"\(name)\", which is a name of SQLite's: give it another name"
        }
        return columns.contains { $0.name.lowercased() == name.lowercased() }
            ? "two columns are called \(name)" : nil
    }
}
