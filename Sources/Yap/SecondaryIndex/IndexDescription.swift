/// The name, rows and columns of a secondary index or an R-tree index.
struct IndexDescription<Object: Sendable>: Sendable {
    let name: String
    let collection: String
    let columns: [YapDatabaseIndexColumns<Object>.Column]
    private let condition: RowCondition<Object>
    let mistakes: [String]
    /// The version that the app gave, with the collection and the columns: the tag changes with each of them.
    let versionTag: String
    /// Whether the index depends on the metadata. If not, it ignores changes of the metadata alone.
    let readsMetadata: Bool

    /// - Parameter shape: How the columns are arranged.
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

    /// Whether the metadata decides which rows are in the index.
    var isIncludedByMetadata: Bool { condition.metadataType != nil }

    /// Throws the first mistake in the description.
    func check(in transaction: YapDatabaseReadTransaction) throws {
        if let mistake = mistakes.first { throw YapDatabaseError(.invalidExtension, "\(name): \(mistake)") }
        let metadata = columns.map(\.metadataType) + [condition.metadataType]
        try transaction.checkTypes(Object.self, metadata: metadata, of: collection, for: name)
    }

    /// The values of a row's columns; nil if it doesn't belong in the index.
    func values(of object: any Sendable, _ metadata: (any Sendable)?) throws -> [YapDatabaseColumnValue]? {
        let object = try extensionObject(object, as: Object.self, for: name, of: collection)
        return condition.isIncluded(object, metadata) ? columns.map { $0.value(object, metadata) } : nil
    }

    /// The values of a row of the index after its metadata has changed.
    func values(_ before: [YapDatabaseColumnValue], withMetadata metadata: (any Sendable)?)
        -> [YapDatabaseColumnValue]
    {
        zip(columns, before).map { column, value in column.valueOfMetadata?(metadata) ?? value }
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
    /// The bounds of the dimensions of an object; nil if it has none, and doesn't belong in the index.
    var dimensions: ([YapDatabaseColumnValue]) -> [YapDatabaseColumnValue]? = { _ in [] }

    /// Whether a row that isn't in the index may belong in it after a change of its metadata alone.
    var mayEnterByMetadata: Bool { description.isIncludedByMetadata || !bounds.isEmpty }
}
