/// Describes the columns of an index. Used in the closure of `YapDatabaseSecondaryIndex.init`.
public struct YapDatabaseIndexColumns<Object: Sendable> {
    /// A column: a property of the objects, or of the metadata.
    struct Column: Sendable {
        let path: IndexColumnPath
        let name: String
        let typeName: String
        /// The type of the metadata; nil for a property of the objects.
        let metadataType: (any Sendable.Type)?
        /// The value of a row with this object and this metadata.
        let value: @Sendable (Object, (any Sendable)?) -> YapDatabaseColumnValue
        /// The value of a row with this metadata; nil for a property of the objects.
        var valueOfMetadata: (@Sendable ((any Sendable)?) -> YapDatabaseColumnValue)?
    }

    private static var reservedNames: Set<String> {
        ["rowid", "oid", "_rowid_", "collection", "key", "data", "metadata"]
    }

    private(set) var columns: [Column] = []
    /// The SQLite indexes, each with the places of its columns.
    private(set) var indexes: [[Int]] = []
    /// What is wrong, in words.
    private(set) var mistakes: [String] = []

    init() {}

    /// Adds a column for a property, which queries can then compare and sort by.
    ///
    /// - Parameters:
    ///   - path: The property.
    ///   - name: The column's name in the file, and in SQL. Without it, it is the property's, with `_` for each `.`; a
    ///     computed property needs one, and so does each in a build without reflection metadata.
    ///   - isIndexed: Whether it has an SQLite index of its own, which queries that compare or sort by it first need to
    ///     be quick, and each change of the property has to keep.
    public mutating func column<Value: YapDatabaseColumnConvertible>(
        _ path: any KeyPath<Object, Value> & Sendable, _ name: String? = nil, isIndexed: Bool = true
    ) {
        let column = (name ?? Self.name(of: path)).map { name in
            Column(path: .object(path), name: name, typeName: "\(Value.self)", metadataType: nil) {
                object, _ in
                object[keyPath: path].columnValue
            }
        }
        add(column, .object(path), isIndexed: isIndexed)
    }

    /// Adds a column for a property of the rows' metadata. A row without metadata has no value in it.
    ///
    /// ```swift
    /// $0.column(metadata: \NoteInfo.downloadedAt)
    /// ```
    ///
    /// The index then also follows writes that change only the metadata. Registering throws `typeMismatch` or
    /// `missingRegistration` if the collection's metadata isn't registered with this type. Parameters as the other
    /// form.
    public mutating func column<Metadata: Sendable, Value: YapDatabaseColumnConvertible>(
        metadata path: any KeyPath<Metadata, Value> & Sendable, _ name: String? = nil, isIndexed: Bool = true
    ) {
        let value: @Sendable ((any Sendable)?) -> YapDatabaseColumnValue = { metadata in
            (metadata as? Metadata)?[keyPath: path].columnValue ?? .null
        }
        let column = (name ?? Self.name(of: path)).map { name in
            Column(
                path: .metadata(path), name: name, typeName: "metadata \(Value.self)",
                metadataType: Metadata.self, value: { _, metadata in value(metadata) },
                valueOfMetadata: value)
        }
        add(column, .metadata(path), isIndexed: isIndexed)
    }

    /// - Parameter column: Nil if it has no name.
    private mutating func add(_ column: Column?, _ path: IndexColumnPath, isIndexed: Bool) {
        if columns.contains(where: { $0.path == path }) { mistakes.append("\(path) is a column twice") }
        guard let column else {
            return mistakes.append("the property \(path) has no name here: give it one")
        }
        if let mistake = mistake(in: column.name) { mistakes.append(mistake) }
        if isIndexed { indexes.append([columns.count]) }
        columns.append(column)
    }

    private func mistake(in name: String) -> String? {
        let isLetter = { (byte: UInt8) in UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }
        let isDigit = { (byte: UInt8) in UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
        if name.isEmpty || !name.utf8.allSatisfy({ isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "_") }) {
            return "a column can't be called \"\(name)\": use letters of ASCII, digits and _"
        }
        if Self.reservedNames.contains(name.lowercased()) {
            return "a column can't be called \"\(name)\", as the database's own are: give it another name"
        }
        return columns.contains { $0.name.lowercased() == name.lowercased() }
            ? "two columns are called \(name)" : nil
    }

    /// What a stored property is called in the source: `\Todo.list.title` is `list_title`.
    static func name(of path: any AnyKeyPath & Sendable) -> String? {
        let text = "\(path)"
        guard let dot = text.firstIndex(of: "."), !text.contains("<") else { return nil }
        return String(text[dot...].dropFirst()).replacing(".", with: "_")
    }

    /// Adds an SQLite index over several columns, for queries that compare the first ones with `==` and the next one in
    /// any way, or sort by it.
    ///
    /// - Parameter paths: Properties that are columns already, in order.
    public mutating func index(_ paths: [any PartialKeyPath<Object> & Sendable]) {
        addIndex(paths.map { path in columns.firstIndex { $0.path == .object(path) } })
    }

    /// The same over properties of objects and of metadata, each with its type. If both have the same type, and the
    /// path is a column of each, it means the object's.
    ///
    /// ```swift
    /// $0.index(over: [\Note.kind, \NoteInfo.downloadedAt])
    /// ```
    public mutating func index(over paths: [any AnyKeyPath & Sendable]) {
        addIndex(
            paths.map { path in
                columns.firstIndex { $0.path == .object(path) }
                    ?? columns.firstIndex { $0.path == .metadata(path) }
            })
    }

    private mutating func addIndex(_ found: [Int?]) {
        let places = found.compactMap(\.self)
        if places.count < found.count || places.isEmpty {
            mistakes.append("an index is over properties that aren't columns")
        } else {
            indexes.append(places)
        }
    }
}
