import SQLite

/// A statement that stands on the rows of one collection, one after the other, in the order of their keys'
/// bytes.
///
/// Rows may be changed while it runs. When rows are added to or removed from the collection, or reading
/// fails, it ends, and the enclosing `read` or `readWrite` throws the error: a `Sequence` can't.
final class RowCursor {
    enum Columns: String {
        case key = "key"
        case identity = "key, rowid"
        case keyAndObject = "key, rowid, data"
        case keyAndMetadata = "key, rowid, metadata"
        case row = "key, rowid, data, metadata"
    }

    /// A box, because an optional property of a type that can't be copied can't be lent.
    private final class Held {
        let statement: Statement
        init(_ statement: consuming Statement) { self.statement = statement }
    }

    private unowned let transaction: YapDatabaseReadTransaction
    private let collection: String
    private let mutationCount: Int
    private var held: Held?

    init(_ transaction: YapDatabaseReadTransaction, _ columns: Columns, inCollection collection: String)
        throws
    {
        self.transaction = transaction
        self.collection = collection
        mutationCount = transaction.mutations.count(collection)
        do {
            let sql = "SELECT \(columns.rawValue) FROM database2 WHERE collection = ?1 ORDER BY key"
            let statement = try transaction.store.sqlite.prepare(sql)
            try statement.bind(collection, at: 1)
            held = Held(statement)
        } catch let error as SQLiteError {
            throw transaction.store.noted(error)
        }
        transaction.keep(self)
    }

    /// Steps to the next row and reads it; `nil` at the end, and after an error, which the transaction keeps.
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
            guard transaction.mutations.count(collection) == mutationCount else {
                throw YapDatabaseError(
                    .mutatedDuringIteration, "rows were added or removed while it was iterated",
                    collection: collection)
            }
            guard try held.statement.step() else { break }
            if let row = try read(held.statement) { return row }
        }
        held = nil
        return nil
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
