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
/// It is updated with each write in the same transaction, which sees the result. A write that changes none of the
/// texts doesn't change it.
///
/// The FTS5 table stores a second copy of the texts. For 10,000 notes of 690 bytes (6.9 MB), it takes 10.4 MB with
/// the texts and 2.6 MB without them (SQLite 3.40). Without them, each removal would have to pass FTS5 exactly the
/// texts that were indexed, so an object with a text that is now computed differently would damage the index.
/// Snippets, and the check whether a write changes a text, would have to decode the object.
public final class YapDatabaseFullTextSearch<Object: Sendable>: YapDatabaseNamedExtension {
    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseFullTextSearch" }
    /// Version of the tables.
    public static var classVersion: Int { 1 }
    /// True: keys and counts depend on the texts, matches on the collection as well.
    public static var notesReads: Bool { true }
    /// True: rows are replaced and removed by their rowids.
    public static var catchesUp: Bool { true }

    /// Maximum prefix indexes, and maximum length of a prefix in characters.
    private static var prefixesMax: (count: Int, length: Int) { (31, 100) }

    /// Name of the search in transactions and in the file.
    public let name: String
    /// Collection of the objects.
    public let collection: String
    /// The app's version, and the columns, the tokenizer and the prefixes.
    public let versionTag: String
    /// How texts are split into words.
    public let tokenizer: YapDatabaseTextTokenizer
    let columns: [YapDatabaseTextColumns<Object>.Column]
    private let condition: RowCondition<Object>
    private let prefixes: [Int]
    private let mistakes: [String]
    /// True if a text or the condition depends on the metadata. Otherwise changes of the metadata only are ignored.
    let readsMetadata: Bool

    /// Describes a full-text search.
    ///
    /// - Parameters:
    ///   - name: Name of the search in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - version: Change it when a text is computed differently, or `isIncluded` decides differently. The search is
    ///     then filled again. Other names of columns, another tokenizer and other prefixes are detected without it.
    ///     Weights may change at any time.
    ///   - tokenizer: How texts are split into words.
    ///   - prefixes: Lengths, in characters, of prefixes with an index of their own. Queries for prefixes of these
    ///     lengths are faster, and the file is larger: twice the size of the index for `[2, 3]`. Not with `.trigram`.
    ///   - isIncluded: Returns true if an object can be found. Default: every object.
    ///   - describe: Adds the columns. Registering throws their mistakes.
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

    /// Describes a full-text search where `isIncluded` also receives the metadata. For the other parameters see the
    /// first form.
    ///
    /// - Parameters:
    ///   - name: Name under which it is registered.
    ///   - type: Type of the objects.
    ///   - metadata: The registered type of the collection's metadata.
    ///   - collection: Collection of the objects.
    ///   - version: Version of the closures. Change it with them: the extension is then filled again.
    ///   - tokenizer: Divides the texts into words.
    ///   - prefixes: Lengths of the prefixes that have an index of their own, in characters.
    ///   - isIncluded: Returns true if a row can be found, by object and metadata, which is nil for a row without
    ///     metadata.
    ///   - describe: Describes the columns.
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

    /// The collection of the objects.
    public var collections: [String]? { [collection] }

    /// Returns the FTS5 table, and the tables that FTS5 creates for it.
    public func tableNames(registeredName: String) -> [String] {
        ["", "_data", "_idx", "_content", "_docsize", "_config"].map { "fullText_\(registeredName)\($0)" }
    }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseFullTextSearchConnection<Object> {
        YapDatabaseFullTextSearchConnection(self, table: "fullText_\(registeredName)")
    }

    /// Throws the first mistake in the description.
    func check(in transaction: YapDatabaseReadTransaction) throws {
        if let mistake = mistakes.first { throw YapDatabaseError(.invalidExtension, "\(name): \(mistake)") }
        let metadata = columns.map(\.metadataType) + [condition.metadataType]
        try transaction.checkTypes(Object.self, metadata: metadata, of: collection, for: name)
    }

    /// Returns the columns' texts, or nil for a row that isn't included or has no text.
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

    /// Returns the statements that create the table.
    func create(_ table: String) -> String {
        FullTextSQL.create(
            table: table, columns: columns.map(\.name), tokenizer: tokenizer, prefixes: prefixes)
    }
}

/// A full-text search at one SQLite handle. It only keeps its SQL texts.
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

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseFullTextSearchTransaction<Object> {
        YapDatabaseFullTextSearchTransaction(self, transaction, tables)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}
