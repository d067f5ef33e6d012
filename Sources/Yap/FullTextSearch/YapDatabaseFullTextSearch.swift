/// A full-text search over texts of the objects of one collection, with SQLite's FTS5.
///
/// ```swift
/// let text = YapDatabaseFullTextSearch("text", of: Todo.self, in: "todos", version: "1") {
///     $0.column(\.title, weight: 4)
///     $0.column(\.notes)
/// }
/// try await database.register(text)
/// let hits = try await connection.read {
///     try $0[text].matches(.prefix(typed), snippet: .of(\.notes, words: 12), limit: 20)
/// }
/// ```
///
/// It follows each write inside the transaction, so that the same transaction finds what it wrote. A write that
/// changes none of the texts writes nothing into it.
///
/// The FTS5 table stores the texts a second time. For 10,000 notes of 690 bytes (6.9 MB), it takes 10.4 MB with the
/// texts and 2.6 MB without them (SQLite 3.40). Without them, each removal has to give FTS5 exactly the texts that were
/// indexed: an object whose text is now computed in another way would damage the index. Snippets, and the check whether
/// a write changes a text, would need the object decoded.
public final class YapDatabaseFullTextSearch<Object: Sendable>: YapDatabaseNamedExtension {
    /// The class's name in the file, whatever the objects' type.
    public static var className: String { "YapDatabaseFullTextSearch" }
    /// The version of the tables.
    public static var classVersion: Int { 1 }
    /// Keys and counts depend on the texts, matches on the collection as well.
    public static var notesReads: Bool { true }
    /// Rows are replaced and removed by their rowids.
    public static var catchesUp: Bool { true }

    /// Maximum number of prefix indexes, and maximum length of a prefix in characters.
    private static var prefixesMax: (count: Int, length: Int) { (31, 100) }

    /// The name by which transactions find it, and under which it is stored.
    public let name: String
    /// The collection whose objects are searched.
    public let collection: String
    /// The app's version, with the columns, the tokenizer and the prefixes.
    public let versionTag: String
    /// How texts are split into words.
    public let tokenizer: YapDatabaseTextTokenizer
    let columns: [YapDatabaseTextColumns<Object>.Column]
    private let condition: RowCondition<Object>
    private let prefixes: [Int]
    private let mistakes: [String]
    /// Whether a text or the condition depends on the metadata. If not, changes of the metadata alone don't concern the
    /// search.
    let readsMetadata: Bool

    /// Describes a full-text search.
    ///
    /// - Parameters:
    ///   - name: Its name in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it when a text is computed in another way, or `isIncluded` decides in another way: the
    ///     search is then filled again. Other names of columns, another tokenizer and other prefixes are noticed
    ///     without it. Weights may change at any time.
    ///   - tokenizer: How texts are split into words.
    ///   - prefixes: Lengths, in characters, of prefixes that have an index of their own. Queries for prefixes of these
    ///     lengths are faster, the file is larger: twice the size of the index for `[2, 3]`. Not with `.trigram`.
    ///   - isIncluded: Returns whether an object is found. Default: every object.
    ///   - describe: Adds the columns. Registering throws its mistakes.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, version: String,
        tokenizer: YapDatabaseTextTokenizer = .unicode, prefix prefixes: [Int] = [],
        including isIncluded: @escaping @Sendable (Object) -> Bool = { _ in true },
        _ describe: (inout YapDatabaseTextColumns<Object>) -> Void
    ) {
        self.init(
            name, in: collection, version: version, tokenizer: tokenizer, prefix: prefixes,
            including: RowCondition(isIncluded), describe)
    }

    /// Describes a full-text search where `isIncluded` gets the metadata as well as the object. Parameters as in the
    /// other form.
    ///
    /// - Parameters:
    ///   - metadata: The type that the collection's metadata is registered with.
    ///   - isIncluded: Returns whether a row is found, by object and metadata; nil for a row without metadata.
    public convenience init<Metadata: Sendable>(
        _ name: String, of type: Object.Type, metadata: Metadata.Type, in collection: String, version: String,
        tokenizer: YapDatabaseTextTokenizer = .unicode, prefix prefixes: [Int] = [],
        including isIncluded: @escaping @Sendable (Object, Metadata?) -> Bool,
        _ describe: (inout YapDatabaseTextColumns<Object>) -> Void
    ) {
        self.init(
            name, in: collection, version: version, tokenizer: tokenizer, prefix: prefixes,
            including: RowCondition(metadata, isIncluded), describe)
    }

    private init(
        _ name: String, in collection: String, version: String, tokenizer: YapDatabaseTextTokenizer,
        prefix prefixes: [Int], including condition: RowCondition<Object>,
        _ describe: (inout YapDatabaseTextColumns<Object>) -> Void
    ) {
        var description = YapDatabaseTextColumns<Object>()
        describe(&description)
        var mistakes = description.mistakes
        if description.columns.isEmpty { mistakes.append("the search has no column") }
        let max = Self.prefixesMax
        if prefixes.count > max.count || !prefixes.allSatisfy({ 1...max.length ~= $0 }) {
            mistakes.append("use up to \(max.count) prefix lengths from 1 to \(max.length)")
        }
        if tokenizer == .trigram, !prefixes.isEmpty {
            mistakes.append("the tokenizer .trigram finds prefixes by itself: use no prefix lengths")
        }
        self.name = name
        self.collection = collection
        self.tokenizer = tokenizer
        self.prefixes = Set(prefixes).sorted()
        self.condition = condition
        self.mistakes = mistakes
        columns = description.columns
        readsMetadata = condition.metadataType != nil || columns.contains { $0.metadataType != nil }
        let names = columns.map { ($0.metadataType == nil ? "" : "metadata ") + $0.name }.joined(
            separator: ",")
        let lengths = self.prefixes.map(String.init).joined(separator: ",")
        versionTag = "\(version);\(collection);\(names);\(tokenizer.rawValue);\(lengths)"
    }

    /// The one collection.
    public var collections: [String]? { [collection] }

    /// The FTS5 table, then the tables that FTS5 creates for it.
    public func tableNames(registeredName: String) -> [String] {
        ["", "_data", "_idx", "_content", "_docsize", "_config"].map { "fullText_\(registeredName)\($0)" }
    }

    /// Returns the search of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseFullTextSearchConnection<Object> {
        YapDatabaseFullTextSearchConnection(self, table: "fullText_\(registeredName)")
    }

    /// Throws the first mistake in the description.
    func check(in transaction: YapDatabaseReadTransaction) throws {
        if let mistake = mistakes.first { throw YapDatabaseError(.invalidExtension, "\(name): \(mistake)") }
        let metadata = columns.map(\.metadataType) + [condition.metadataType]
        try transaction.checkTypes(Object.self, metadata: metadata, of: collection, for: name)
    }

    /// The columns' texts; nil for a row that isn't included or has no text.
    func texts(of object: any Sendable, _ metadata: (any Sendable)?) throws -> [YapDatabaseColumnValue]? {
        let object = try extensionObject(object, as: Object.self, for: name, of: collection)
        guard condition.isIncluded(object, metadata) else { return nil }
        let texts: [YapDatabaseColumnValue] = columns.map { column in
            guard let text = column.text(object, metadata), !text.isEmpty else { return .null }
            // FTS5 reads a text up to the first NUL in some places, and beyond it in others.
            return .text(TextQueryWords.withoutNUL(text))
        }
        return texts.allSatisfy { $0 == .null } ? nil : texts
    }

    /// The statements that create the table.
    func create(_ table: String) -> String {
        FullTextSQL.create(
            table: table, columns: columns.map(\.name), tokenizer: tokenizer, prefixes: prefixes)
    }
}

/// A full-text search at one SQLite handle. It keeps only the texts of its statements.
public final class YapDatabaseFullTextSearchConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    let search: YapDatabaseFullTextSearch<Object>
    let sql: FullTextSQL
    let table: String

    init(_ search: YapDatabaseFullTextSearch<Object>, table: String) {
        self.search = search
        self.table = table
        sql = FullTextSQL(
            table: table, columns: search.columns.map(\.name), weights: search.columns.map(\.weight))
    }

    /// Returns the search in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseFullTextSearchTransaction<Object> {
        YapDatabaseFullTextSearchTransaction(self, transaction, tables)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}
