import SQLite

@testable import Yap

/// A small real extension: counts the todos of each first word, in a table of its own, and keeps the counts
/// in memory.
final class WordCounter: YapDatabaseExtension {
    static let classVersion = 2
    static let notesReads = true
    let versionTag: String
    let dependencies: [String]
    let log: Log?
    /// A todo with this title makes the hooks throw.
    let poison: String?

    init(versionTag: String = "1", dependencies: [String] = [], log: Log? = nil, poison: String? = nil) {
        self.versionTag = versionTag
        self.dependencies = dependencies
        self.log = log
        self.poison = poison
    }

    func tableNames(registeredName: String) -> [String] { ["words_\(registeredName)"] }

    func makeConnection(registeredName: String) -> WordCounterConnection {
        WordCounterConnection(counter: self, table: "words_\(registeredName)", name: registeredName)
    }

    func didRegister(registeredName: String, database: YapDatabase) {
        log?.add("\(registeredName) is registered")
    }
}

final class WordCounterConnection: YapDatabaseExtensionConnection {
    let counter: WordCounter
    let table: String
    let name: String
    var counts: [String: Int] = [:]

    init(counter: WordCounter, table: String, name: String) {
        self.counter = counter
        self.table = table
        self.name = name
    }

    func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> WordCounterTransaction {
        WordCounterTransaction(self, transaction, tables)
    }

    func apply(_ changes: any Sendable) {
        guard let changes = changes as? [String: Int] else { return }
        for (word, count) in changes where counts[word] != nil { counts[word] = count }
    }

    func dropCaches() { counts = [:] }
}

final class WordCounterTransaction: YapDatabaseExtensionTransaction {
    private let connection: WordCounterConnection
    private unowned let transaction: YapDatabaseReadTransaction
    private let tables: YapDatabaseExtensionTables
    private var dirty: [String: Int] = [:]
    private var wordBefore: [Int64: String] = [:]
    /// Rows that are written at the end of the transaction: title by key.
    var pendingRows: [(key: String, title: String)] = []
    var isEndless = false

    init(
        _ connection: WordCounterConnection, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
    }

    func count(of word: String) throws -> Int {
        tables.noteRead { changes in (changes as? [String: Int])?[word] != nil }
        if let count = dirty[word] ?? connection.counts[word] { return count }
        let count = try transaction.sqlite.withStatement("SELECT n FROM \(connection.table) WHERE word = ?1")
        {
            try $0.bind(word, at: 1)
            return try $0.step() ? Int($0.int64(at: 0)) : 0
        }
        connection.counts[word] = count
        return count
    }

    func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        log(
            previous.map {
                "register after \($0.classVersion) \($0.versionTag) missed \($0.hasMissedCommits)"
            }
                ?? "register anew")
        let isCurrent =
            previous?.versionTag == connection.counter.versionTag && previous?.hasMissedCommits == false
        if isCurrent { return .isUnchanged }
        try transaction.sqlite.execute(
            """
            DROP TABLE IF EXISTS \(connection.table);
            CREATE TABLE \(connection.table) (word TEXT PRIMARY KEY, n INTEGER NOT NULL);
            """)
        for (key, todo) in try transaction.objects(Todo.self, inCollection: "todos") {
            if todo.title == connection.counter.poison { throw Refused() }
            log("populate \(key)")
            try add(1, word(todo))
        }
        try flushPendingChangesToExtensionTables()
        return .isComplete
    }

    func willChange(_ change: YapDatabaseRowChange) throws {
        log("will \(describe(change))")
        let rows: [YapDatabaseRowIdentity] =
            switch change {
            case .update(let row, _, _), .replaceObject(let row, _): [row]
            case .remove(let rows): rows
            default: []
            }
        for row in rows where row.collection == "todos" {
            wordBefore[row.rowID] = try transaction.todo(row.key).map(word)
        }
    }

    func didChange(_ change: YapDatabaseRowChange) throws {
        log("did \(describe(change))")
        switch change {
        case .insert(let row, let object, _) where row.collection == "todos":
            try set(row, object)
        case .update(let row, let object, _) where row.collection == "todos":
            try set(row, object)
        case .replaceObject(let row, let object) where row.collection == "todos":
            try set(row, object)
        case .remove(let rows):
            for row in rows { try wordBefore.removeValue(forKey: row.rowID).map { try add(-1, $0) } }
        case .removeAll:
            // Other connections may have cached any of them.
            let words = try transaction.sqlite.withStatement("SELECT word FROM \(connection.table)") {
                var words: [String] = []
                while try $0.step() { words.append($0.text(at: 0)) }
                return words
            }
            try transaction.sqlite.execute("DELETE FROM \(connection.table)")
            for word in Set(words).union(dirty.keys) { dirty[word] = 0 }
        default: break
        }
    }

    private func set(_ row: YapDatabaseRowIdentity, _ object: any Sendable) throws {
        guard let todo = object as? Todo else { return }
        if todo.title == connection.counter.poison { throw Refused() }
        if let before = wordBefore.removeValue(forKey: row.rowID) { try add(-1, before) }
        try add(1, word(todo))
    }

    private func add(_ number: Int, _ word: String) throws {
        dirty[word] = try count(of: word) + number
    }

    func flushPendingChangesToMainDatabaseTable() throws {
        log("flush rows")
        guard let write = transaction as? YapDatabaseReadWriteTransaction else { return }
        if isEndless { try write.touchRow(forKey: "1", inCollection: "todos") }
        let rows = pendingRows
        pendingRows = []
        for row in rows { try write.set(row.title, row.key) }
    }

    func flushPendingChangesToExtensionTables() throws {
        log("flush tables")
        for (word, count) in dirty.sorted(by: { $0.key < $1.key }) {
            try transaction.sqlite.withStatement("INSERT OR REPLACE INTO \(connection.table) VALUES (?1, ?2)")
            {
                try $0.bind(word, at: 1)
                try $0.bind(Int64(count), at: 2)
                try $0.run()
            }
        }
    }

    func changesForConnections() -> (any Sendable)? { dirty.isEmpty ? nil : dirty }
    func makeRestorePoint() throws -> () -> Void {
        let saved = (dirty, wordBefore, pendingRows, isEndless)
        return { (self.dirty, self.wordBefore, self.pendingRows, self.isEndless) = saved }
    }

    func didCommit(snapshot: UInt64) { log("committed \(snapshot)") }
    func didRollback() { log("rolled back") }

    private func word(_ todo: Todo) -> String {
        todo.title.split(separator: " ").first.map(String.init) ?? ""
    }

    private func log(_ line: String) {
        connection.counter.log?.add("\(connection.name): \(line)")
    }

    private func describe(_ change: YapDatabaseRowChange) -> String {
        switch change {
        case .insert(let row, _, _): "insert \(row.key)"
        case .update(let row, _, _): "update \(row.key)"
        case .replaceObject(let row, _): "replaceObject \(row.key)"
        case .replaceMetadata(let row, _): "replaceMetadata \(row.key)"
        case .touchObject(let row): "touchObject \(row.key)"
        case .touchMetadata(let row): "touchMetadata \(row.key)"
        case .touchRow(let row): "touchRow \(row.key)"
        case .remove(let rows): "remove \(rows.map(\.key).joined(separator: ","))"
        case .removeAll: "removeAll"
        }
    }
}

/// Another class, which may take a name that a `WordCounter` had.
final class NothingExtension: YapDatabaseExtension {
    static let classVersion = 1
    let versionTag = "1"
    let log: Log

    init(log: Log) { self.log = log }

    func makeConnection(registeredName: String) -> Connection { Connection(log: log) }

    final class Connection: YapDatabaseExtensionConnection {
        let log: Log
        init(log: Log) { self.log = log }
        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            Transaction(log: log)
        }
        func apply(_ changes: any Sendable) {}
        func dropCaches() {}
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        let log: Log
        init(log: Log) { self.log = log }
        func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
            log.add(previous == nil ? "nothing anew" : "nothing again")
            return .isComplete
        }
    }
}
