import SQLite

/// Iterates a statement over rows, ordered by the bytes of collection and key.
///
/// Rows may be changed while it runs. When rows are added to or removed from its collections, or reading fails, it
/// ends, and the enclosing `read` or `readWrite` throws the error, because a `Sequence` can't.
final class RowCursor {
    enum Columns: String {
        case key = "key"
        case identity = "key, rowid"
        case keyAndObject = "key, rowid, data"
        case keyAndMetadata = "key, rowid, metadata"
        case row = "key, rowid, data, metadata"
        case name = "key, collection"
        case nameAndObject = "key, collection, data"
        case nameAndMetadata = "key, collection, metadata"
        case nameAndRow = "key, collection, data, metadata"
    }

    /// Rows to read.
    enum Scope {
        /// Rows of these collections, one collection after the other.
        case collections([String])
        case all
        /// Rows of a table that no write of the app changes during the iteration.
        case fixed
    }

    /// Statement to read with.
    struct Query {
        let sql: String
        let scope: Scope
        /// Value of the first parameter.
        var position: Int64?

        init(_ columns: Columns, _ scope: Scope) {
            sql =
                "SELECT \(columns.rawValue) FROM database2 "
                + {
                    switch scope {
                    case .collections: "WHERE collection = ?1 ORDER BY key"
                    case .all, .fixed: "ORDER BY collection, key"
                    }
                }()
            self.scope = scope
        }

        init(sql: String, after position: Int64) {
            self.sql = sql
            self.position = position
            scope = .fixed
        }
    }

    /// A box, because an optional property of a noncopyable type can't be borrowed.
    private final class Held {
        let statement: Statement
        init(_ statement: consuming Statement) { self.statement = statement }
    }

    private unowned let transaction: YapDatabaseReadTransaction
    /// `fixed` in a read-only transaction.
    private let scope: Scope
    /// Number of mutations of all collections at the beginning.
    private var mutationTotal = 0
    /// Number of mutations of the iterated collections at the beginning.
    private var mutationCount = 0
    /// Remaining collections.
    private var rest: ArraySlice<String> = []
    private var held: Held?

    init(_ transaction: YapDatabaseReadTransaction, _ query: Query) throws {
        self.transaction = transaction
        scope = transaction is YapDatabaseReadWriteTransaction ? query.scope : .fixed
        if case .collections(let collections) = query.scope {
            rest = collections[...]
            if rest.isEmpty { return }
        }
        mutationTotal = transaction.mutations.total
        mutationCount = countMutations()
        do {
            let statement = try transaction.store.sqlite.prepare(query.sql)
            if let first = rest.popFirst() { try statement.bind(first, at: 1) }
            if let position = query.position { try statement.bind(position, at: 1) }
            held = Held(statement)
        } catch let error as SQLiteError {
            throw transaction.store.noted(error)
        }
        transaction.keep(self)
    }

    /// Steps to the next row and reads it. Returns nil at the end, and after an error, which the transaction keeps.
    func next<Row>(_ read: (borrowing Statement) throws -> Row?) -> Row? {
        precondition(!transaction.isEnded, "a sequence of rows was iterated after its transaction had ended")
        do {
            try transaction.check()
            return try step(read)
        } catch let error as SQLiteError {
            return fail(transaction.store.noted(error))
        } catch {
            return fail(error)
        }
    }

    private func step<Row>(_ read: (borrowing Statement) throws -> Row?) throws -> Row? {
        while let held {
            try checkMutations()
            if try held.statement.step() {
                if let row = try read(held.statement) { return row }
            } else if let next = rest.popFirst() {
                held.statement.reset()
                try held.statement.bind(next, at: 1)
            } else {
                break
            }
        }
        held = nil
        return nil
    }

    /// Checks the iterated collections, but only if any collection was mutated.
    private func checkMutations() throws {
        if case .fixed = scope { return }
        if transaction.mutations.total == mutationTotal { return }
        guard countMutations() == mutationCount else { throw mutated }
    }

    /// Returns the number of additions and removals in the iterated collections.
    private func countMutations() -> Int {
        switch scope {
        case .collections(let collections):
            collections.reduce(0) { $0 + transaction.mutations.count($1) }
        case .all: transaction.mutations.total
        case .fixed: 0
        }
    }

    private var mutated: YapDatabaseError {
        var collection: String?
        if case .collections(let collections) = scope, collections.count == 1 { collection = collections[0] }
        return YapDatabaseError(
            .mutatedDuringIteration, "rows were added or removed while it was iterated",
            collection: collection)
    }

    private func fail<Row>(_ error: any Error) -> Row? {
        if transaction.iterationError == nil { transaction.iterationError = error }
        held = nil
        return nil
    }

    func close() {
        held = nil
    }
}
