/// The name, rows and columns of a secondary index or an R-tree index.
struct IndexDescription<Object: Sendable>: Sendable {
    let name: String
    let collection: String
    let columns: [YapDatabaseIndexColumns<Object>.Column]
    private let condition: RowCondition<Object>
    let mistakes: [String]
    /// The app's version, the collection and the columns.
    let versionTag: String
    /// True if the index depends on the metadata. Otherwise it ignores changes of the metadata only.
    let readsMetadata: Bool

    /// - Parameter shape: Description of the columns.
    init(
        _ name: String, in collection: String, version: String,
        including condition: RowCondition<Object>, columns: [YapDatabaseIndexColumns<Object>.Column],
        shape: String, mistakes: [String]
    ) {
        (self.name, self.collection, self.condition) = (name, collection, condition)
        (self.columns, self.mistakes) = (columns, mistakes)
        readsMetadata = condition.metadataType != nil || columns.contains { $0.metadataType != nil }
        let types = columns.map { "\($0.name) \($0.typeName)" }.joined(separator: ",")
        versionTag = "\(version);\(collection);\(types);\(shape)"
    }

    /// True if the metadata decides which rows are in the index.
    var isIncludedByMetadata: Bool { condition.metadataType != nil }

    /// Throws the first mistake in the description.
    func check(in transaction: YapDatabaseReadTransaction) throws {
        if let mistake = mistakes.first { throw YapDatabaseError(.invalidExtension, "\(name): \(mistake)") }
        let metadata = columns.map(\.metadataType) + [condition.metadataType]
        try transaction.checkTypes(Object.self, metadata: metadata, of: collection, for: name)
    }

    /// Returns the values of a row's columns, or nil if the row isn't in the index.
    func values(of object: any Sendable, _ metadata: (any Sendable)?) throws -> [YapDatabaseColumnValue]? {
        let object = try extensionObject(object, as: Object.self, for: name, of: collection)
        return condition.isIncluded(object, metadata) ? columns.map { $0.value(object, metadata) } : nil
    }

    /// Returns the values of an indexed row after its metadata has changed.
    func values(_ before: [YapDatabaseColumnValue], withMetadata metadata: (any Sendable)?)
        -> [YapDatabaseColumnValue]
    {
        zip(columns, before).map { column, value in column.valueOfMetadata?(metadata) ?? value }
    }
}

/// An index of any kind at one SQLite handle: its description and its SQL statements.
struct IndexTable<Object: Sendable> {
    let description: IndexDescription<Object>
    /// Version of the table.
    let classVersion: Int
    /// Creates the table.
    let create: String
    /// Inserts or replaces a row: its rowid, the bounds of its dimensions, and its columns' values.
    let insert: String
    let delete: String
    let sql: SecondaryIndexSQL
    /// Bounds of columns, by the columns' SQL.
    var bounds: [String: IndexBounds] = [:]
    /// Returns the bounds of an object's dimensions, or nil if it has none and isn't in the index.
    var dimensions: ([YapDatabaseColumnValue]) -> [YapDatabaseColumnValue]? = { _ in [] }

    /// True if a change of the metadata only may add a row to the index.
    var mayEnterByMetadata: Bool { description.isIncludedByMetadata || !bounds.isEmpty }
}
