import SQLite
import Yap

/// An extension that counts the rows of each collection, in a table of its own and in memory: what an extension keeps
/// must follow the rows, commit by commit.
final class RowTally: YapDatabaseExtension {
    static let classVersion = 1
    let versionTag = "1"

    func tableNames(registeredName: String) -> [String] { ["tally"] }
    func makeConnection(registeredName: String) -> Connection { Connection() }

    final class Connection: YapDatabaseExtensionConnection {
        fileprivate var counts: [String: Int] = [:]

        func makeTransaction(
            _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
        ) -> Transaction {
            Transaction(self, transaction)
        }

        func apply(_ changes: any Sendable) {
            guard let changes = changes as? [String: Int] else { return }
            counts.merge(changes) { $1 }
        }

        func dropCaches() { counts = [:] }
    }

    final class Transaction: YapDatabaseExtensionTransaction {
        private let connection: Connection
        private unowned let transaction: YapDatabaseReadTransaction
        private var changed: [String: Int] = [:]

        fileprivate init(_ connection: Connection, _ transaction: YapDatabaseReadTransaction) {
            self.connection = connection
            self.transaction = transaction
        }

        func count(_ collection: String) throws -> Int {
            if let count = changed[collection] ?? connection.counts[collection] { return count }
            let count = try storedCount(collection)
            connection.counts[collection] = count
            return count
        }

        func storedCount(_ collection: String) throws -> Int {
            try transaction.sqlite.withStatement("SELECT rows FROM tally WHERE collection = ?") { statement in
                try statement.bind(collection, at: 1)
                return try statement.step() ? Int(statement.int64(at: 0)) : 0
            }
        }

        func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
            guard previous?.hasMissedCommits != false else { return .isUnchanged }
            try transaction.sqlite.execute("DROP TABLE IF EXISTS tally")
            try transaction.sqlite.execute("CREATE TABLE tally (collection TEXT PRIMARY KEY, rows INTEGER)")
            for collection in try transaction.allCollections() {
                changed[collection] = try transaction.numberOfKeys(inCollection: collection)
            }
            try flushPendingChangesToExtensionTables()
            return .isComplete
        }

        func didChange(_ change: YapDatabaseRowChange) throws {
            switch change {
            case .insert(let row, _, _): changed[row.collection] = try count(row.collection) + 1
            case .remove(let rows):
                for row in rows { changed[row.collection] = try count(row.collection) - 1 }
            default: break
            }
        }

        func flushPendingChangesToExtensionTables() throws {
            let sql = "INSERT OR REPLACE INTO tally VALUES (?, ?)"
            for (collection, count) in changed.sorted(by: { $0.key < $1.key }) {
                try transaction.sqlite.withStatement(sql) { statement in
                    try statement.bind(collection, at: 1)
                    try statement.bind(count, at: 2)
                    try statement.run()
                }
            }
        }

        func changesForConnections() -> (any Sendable)? { changed.isEmpty ? nil : changed }
    }
}
