/// Describes the columns of a full-text search. Used in the closure of `YapDatabaseFullTextSearch.init`.
public struct YapDatabaseTextColumns<Object: Sendable> {
    /// A column: a text of each row.
    struct Column: Sendable {
        /// Nil for a closure, and for a property of the metadata.
        let path: (any AnyKeyPath & Sendable)?
        let name: String
        let weight: Double
        /// Type of the metadata that the text is taken from. Nil if it is taken from the object only.
        let metadataType: (any Sendable.Type)?
        let text: @Sendable (Object, (any Sendable)?) -> String?
    }

    /// Maximum weight of a column. With a greater one, a score isn't a number.
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
    ///   - name: Name of the column in the file and in `.expression`. Default: the property's name, with `_` for each
    ///     `.`. Required for a computed property, and in builds without reflection metadata.
    ///   - weight: Weight of a match in this column, relative to the other columns: from 0 to `weightMax`.
    public mutating func column(
        _ path: any KeyPath<Object, String> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { object, _ in object[keyPath: path] }
    }

    /// Adds a column for an optional text. Parameters: see the first form.
    public mutating func column(
        _ path: any KeyPath<Object, String?> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { object, _ in object[keyPath: path] }
    }

    /// Adds a column for a list of texts, which are joined with line breaks. Parameters: see the first form.
    public mutating func column(
        _ path: any KeyPath<Object, [String]> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(path, name, weight) { object, _ in object[keyPath: path].joined(separator: "\n") }
    }

    /// Adds a column for a text that a closure computes.
    ///
    /// - Parameters:
    ///   - name: Name of the column in the file, in `.expression` and in `in(_:)`.
    ///   - weight: Weight of a match in this column, relative to the other columns.
    ///   - text: Returns the text of an object, or nil for none. Change the search's version with it.
    public mutating func column(
        _ name: String, weight: Double = 1, _ text: @escaping @Sendable (_ object: Object) -> String?
    ) {
        add(nil, name, weight) { object, _ in text(object) }
    }

    // MARK: Metadata

    /// Adds a column for a text of the rows' metadata. Queries and excerpts refer to it by its name: `.in(column:)`.
    ///
    /// Writes that change only the metadata then update the search too. Registering throws `typeMismatch` or
    /// `missingRegistration` if the collection's metadata isn't registered with this type. Parameters: see the first
    /// form.
    public mutating func column<Metadata: Sendable>(
        metadata path: any KeyPath<Metadata, String> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(metadata: path, name, weight) { (metadata: Metadata) in metadata[keyPath: path] }
    }

    /// Adds a column for an optional text of the metadata. Parameters: see the first form.
    public mutating func column<Metadata: Sendable>(
        metadata path: any KeyPath<Metadata, String?> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(metadata: path, name, weight) { (metadata: Metadata) in metadata[keyPath: path] }
    }

    /// Adds a column for a list of texts of the metadata, which are joined with line breaks. Parameters: see the
    /// first form.
    public mutating func column<Metadata: Sendable>(
        metadata path: any KeyPath<Metadata, [String]> & Sendable, _ name: String? = nil, weight: Double = 1
    ) {
        add(metadata: path, name, weight) { (metadata: Metadata) in
            metadata[keyPath: path].joined(separator: "\n")
        }
    }

    /// Adds a column for a text that a closure computes from an object and its metadata.
    ///
    /// - Parameters:
    ///   - name: Name of the column in the file, in `.expression` and in `in(column:)`.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - weight: Weight of a match in this column, relative to the other columns.
    ///   - text: Returns the text of a row, or nil for none. The metadata of a row without any is nil. Change the
    ///     search's version with it.
    public mutating func column<Metadata: Sendable>(
        _ name: String, metadata: Metadata.Type, weight: Double = 1,
        _ text: @escaping @Sendable (_ object: Object, _ metadata: Metadata?) -> String?
    ) {
        add(nil, name, weight, metadata) { text($0, $1 as? Metadata) }
    }

    private mutating func add<Metadata: Sendable>(
        metadata path: any AnyKeyPath & Sendable, _ name: String?, _ weight: Double,
        _ text: @escaping @Sendable (Metadata) -> String?
    ) {
        let name = name ?? YapDatabaseIndexColumns<Object>.name(of: path)
        add(nil, name, weight, Metadata.self) { ($1 as? Metadata).flatMap(text) }
    }

    private mutating func add(
        _ path: (any AnyKeyPath & Sendable)?, _ name: String?, _ weight: Double,
        _ metadataType: (any Sendable.Type)? = nil,
        _ text: @escaping @Sendable (Object, (any Sendable)?) -> String?
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
        columns.append(
            Column(path: path, name: name, weight: weight, metadataType: metadataType, text: text))
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
