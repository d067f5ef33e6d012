/// Describes the columns of an index. Used in the closure of `YapDatabaseSecondaryIndex.init`.
public struct YapDatabaseIndexColumns<Object: Sendable> {
    /// A column: a property of the objects, or of the metadata.
    struct Column: Sendable {
        let path: IndexColumnPath
        let name: String
        let typeName: String
        /// Type of the metadata. Nil for a property of the objects.
        let metadataType: (any Sendable.Type)?
        /// Returns the value of a row with this object and this metadata.
        let value: @Sendable (Object, (any Sendable)?) -> YapDatabaseColumnValue
        /// Returns the value of a row with this metadata. Nil for a property of the objects.
        var valueOfMetadata: (@Sendable ((any Sendable)?) -> YapDatabaseColumnValue)?
    }

    private static var reservedNames: Set<String> {
        ["rowid", "oid", "_rowid_", "collection", "key", "data", "metadata"]
    }

    private(set) var columns: [Column] = []
    /// The SQLite indexes, each as the positions of its columns.
    private(set) var indexes: [[Int]] = []
    /// Descriptions of mistakes.
    private(set) var mistakes: [String] = []

    init() {}

    /// Adds a column for a property, by which queries can then compare and sort.
    ///
    /// - Parameters:
    ///   - path: The property.
    ///   - name: Name of the column in the file, and in SQL. Default: the property's name, with `_` for each `.`.
    ///     Required for a computed property, and in builds without reflection metadata.
    ///   - isIndexed: Whether the column has its own SQLite index. It makes queries fast that compare or sort by the
    ///     column first, and it is updated with each change of the property.
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
    /// Writes that change only the metadata then update the index too. Registering throws `typeMismatch` or
    /// `missingRegistration` if the collection's metadata isn't registered with this type. For the other parameters
    /// see the first form.
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

    /// Returns the name of a stored property: `list_title` for `\Todo.list.title`.
    static func name(of path: any AnyKeyPath & Sendable) -> String? {
        let text = "\(path)"
        guard let dot = text.firstIndex(of: "."), !text.contains("<") else { return nil }
        return String(text[dot...].dropFirst()).replacing(".", with: "_")
    }

    /// Adds an SQLite index over several columns, for queries that compare the first ones with `==`, and compare or
    /// sort by the next one.
    ///
    /// - Parameter paths: Properties that already are columns, in order.
    public mutating func index(_ paths: [any PartialKeyPath<Object> & Sendable]) {
        addIndex(paths.map { path in columns.firstIndex { $0.path == .object(path) } })
    }

    /// Adds an SQLite index over properties of objects and of metadata, each with its type. If both have the same
    /// type, and the path is a column of each, the object's column is used.
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
