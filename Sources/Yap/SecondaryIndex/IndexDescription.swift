/// What the app says of an index of any kind.
struct IndexDescription<Object: Sendable>: Sendable {
    let name: String
    let collection: String
    let columns: [YapDatabaseIndexColumns<Object>.Column]
    let isIncluded: @Sendable (Object) -> Bool
    let mistakes: [String]
    /// The version that the app gave, with the columns and their arrangement: the tag tells of other ones by itself.
    let versionTag: String

    /// - Parameter shape: How the columns are arranged.
    init(
        _ name: String, in collection: String, version: String,
        including isIncluded: @escaping @Sendable (Object) -> Bool,
        columns: [YapDatabaseIndexColumns<Object>.Column], shape: String, mistakes: [String]
    ) {
        (self.name, self.collection, self.isIncluded) = (name, collection, isIncluded)
        (self.columns, self.mistakes) = (columns, mistakes)
        let types = columns.map { "\($0.name) \($0.typeName)" }.joined(separator: ",")
        versionTag = "\(version);\(collection);\(types);\(shape)"
    }

    /// Throws what is wrong with the description.
    func check() throws {
        if let mistake = mistakes.first { throw YapDatabaseError(.invalidExtension, "\(name): \(mistake)") }
    }

    /// The values of an object's columns; nil if it doesn't belong into the index.
    func values(of object: any Sendable) throws -> [YapDatabaseColumnValue]? {
        guard let object = object as? Object else {
            throw YapDatabaseError(
                .typeMismatch,
                "the index \"\(name)\" is of \(Object.self), the object is a \(type(of: object))",
                collection: collection)
        }
        return isIncluded(object) ? columns.map { $0.value(object) } : nil
    }
}

/// An index of any kind at one SQLite handle: what it is, and its statements.
struct IndexTable<Object: Sendable> {
    let description: IndexDescription<Object>
    /// The version of the table.
    let classVersion: Int
    /// The statements that make the table anew.
    let create: String
    /// Inserts a row, or replaces it: its rowid, the bounds of its dimensions, and its columns' values.
    let insert: String
    let delete: String
    let sql: SecondaryIndexSQL
    /// The bounds of columns, by the SQL of these.
    var bounds: [String: IndexBounds] = [:]
    /// The bounds of the dimensions of an object; nil if it has none, and doesn't belong into the index.
    var dimensions: ([YapDatabaseColumnValue]) -> [YapDatabaseColumnValue]? = { _ in [] }
}
