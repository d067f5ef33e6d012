import Yap

/// Counts the objects of a collection by the first word of a text of theirs.
///
/// ```swift
/// let words = WordCount("words", of: Memo.self, in: "memos") { $0.text }
/// try await database.register(words)
/// let count = try await connection.read { try $0[words].count(of: "Buy") }
/// ```
public final class WordCount: YapDatabaseNamedExtension {
    /// The version of the table.
    public static let classVersion = 1
    /// A count depends on its word alone, which `count(of:)` notes.
    public static let notesReads = true

    /// What it is reached by in transactions, and known by in the file.
    public let name: String
    /// The app's version of the text.
    public let versionTag: String
    /// The one collection.
    public let collections: [String]?
    let text: @Sendable (any Sendable) -> String?

    /// Describes the extension. Nothing happens before it is registered.
    ///
    /// - Parameters:
    ///   - name: What it is known by in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - version: Change it when `text` returns something else for the same object. The rows are then counted anew.
    ///   - text: Returns the text of an object.
    public init<Object: Sendable>(
        _ name: String, of type: Object.Type, in collection: String, version: String = "1",
        text: @escaping @Sendable (Object) -> String
    ) {
        self.name = name
        versionTag = version
        collections = [collection]
        self.text = { ($0 as? Object).map(text) }
    }

    /// The one table.
    public func tableNames(registeredName: String) -> [String] { ["wordCount_\(registeredName)"] }

    /// The extension at one SQLite handle.
    public func makeConnection(registeredName: String) -> WordCountConnection {
        WordCountConnection(self, table: tableNames(registeredName: registeredName)[0])
    }
}

/// Words with counts that one commit changed.
struct WordCountChanges: YapDatabaseCountedChanges {
    /// Beyond this number every word counts as changed.
    static let wordsMax = 1_000

    /// Column values, because they are equal when SQLite takes them for equal: two texts when their bytes are.
    var words: Set<YapDatabaseColumnValue> = []
    var isOfAll = false
    var count: Int { words.count }

    mutating func add(_ word: YapDatabaseColumnValue) {
        if words.count < Self.wordsMax { words.insert(word) } else { isOfAll = true }
    }

    func contain(_ word: YapDatabaseColumnValue) -> Bool { isOfAll || words.contains(word) }
}

/// The counts that were read with one SQLite handle.
public final class WordCountConnection: YapDatabaseExtensionConnection {
    let instance: WordCount
    /// The table's name in SQL.
    let table: String
    var counts: [YapDatabaseColumnValue: Int] = [:]

    init(_ instance: WordCount, table: String) {
        self.instance = instance
        self.table = "\"" + table.replacing("\"", with: "\"\"") + "\""
    }

    /// The extension in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> WordCountTransaction {
        WordCountTransaction(self, tables)
    }

    /// Removes what a commit changed.
    public func apply(_ changes: any Sendable) {
        guard let changes = changes as? WordCountChanges, !changes.isOfAll else { return counts = [:] }
        for word in changes.words { counts[word] = nil }
    }

    /// Removes all counts.
    public func dropCaches() { counts = [:] }
}

/// The extension in one transaction.
public final class WordCountTransaction: YapDatabaseExtensionTransaction {
    private let connection: WordCountConnection
    private let tables: YapDatabaseExtensionTables
    private var table: String { connection.table }
    private var changes = WordCountChanges()

    init(_ connection: WordCountConnection, _ tables: YapDatabaseExtensionTables) {
        self.connection = connection
        self.tables = tables
    }

    /// Returns how many objects have a first word.
    ///
    /// - Throws: `YapDatabaseError`: what the file gave, or `transactionEnded`.
    public func count(of word: String) throws -> Int {
        let word = YapDatabaseColumnValue.text(word)
        tables.noteRead { changes in (changes as? WordCountChanges)?.contain(word) ?? true }
        if let known = connection.counts[word], !changes.contain(word) { return known }
        let rows = try tables.rows("SELECT count(*) FROM \(table) WHERE word = ?1", [word])
        guard case .integer(let count) = rows.first?.first else { return 0 }
        // What this transaction changed may still be undone.
        if !changes.contain(word) { connection.counts[word] = Int(count) }
        return Int(count)
    }

    /// Creates the table, unless it is as this version left it.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        if let previous, !previous.hasMissedCommits, previous.classVersion == WordCount.classVersion,
            previous.versionTag == connection.instance.versionTag
        {
            return .isUnchanged
        }
        try tables.execute(
            """
            DROP TABLE IF EXISTS \(table);
            CREATE TABLE \(table) (rowid INTEGER PRIMARY KEY, word TEXT NOT NULL);
            CREATE INDEX \(table.dropLast())_word" ON \(table) (word);
            """)
        return .isEmpty
    }

    /// Adds rows that were stored before the extension was registered.
    public func fill(_ rows: [YapDatabaseStoredRow]) throws {
        for row in rows { try set(firstWord(of: row.object), row.identity.rowID) }
    }

    /// Follows a change of a row.
    public func didChange(_ change: YapDatabaseRowChange) throws {
        switch change {
        case .insert(let row, let object, _), .update(let row, let object, _),
            .replaceObject(let row, let object):
            try set(firstWord(of: object), row.rowID)
        case .remove(let rows): for row in rows { try set(nil, row.rowID) }
        case .removeAll:
            try tables.run("DELETE FROM \(table)")
            changes.isOfAll = true
        case .replaceMetadata, .touchObject, .touchMetadata, .touchRow: break
        }
    }

    /// The changed words, for the caches of other connections and for observations.
    public func changesForConnections() -> (any Sendable)? {
        changes.isOfAll || !changes.words.isEmpty ? changes : nil
    }

    /// A savepoint that fails undoes the table's changes, and with this the noted words.
    public func makeRestorePoint() throws -> () -> Void {
        let changes = changes
        return { self.changes = changes }
    }

    private func firstWord(of object: any Sendable) -> YapDatabaseColumnValue? {
        connection.instance.text(object)?.split(separator: " ").first.map { .text(String($0)) }
    }

    /// Sets the word of a row; nil removes it.
    private func set(_ word: YapDatabaseColumnValue?, _ rowID: Int64) throws {
        let row = YapDatabaseColumnValue.integer(rowID)
        let before = try tables.rows("SELECT word FROM \(table) WHERE rowid = ?1", [row]).first?.first
        guard word != before else { return }
        if let word {
            try tables.run("INSERT OR REPLACE INTO \(table) VALUES (?1, ?2)", [row, word])
        } else {
            try tables.run("DELETE FROM \(table) WHERE rowid = ?1", [row])
        }
        for case let changed? in [before, word] { changes.add(changed) }
    }
}
