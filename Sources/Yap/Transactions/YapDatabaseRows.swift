import SQLite

/// Rows as a lazy sequence. Each iteration reads them again.
public struct YapDatabaseRows<Element>: Sequence {
    private let transaction: YapDatabaseReadTransaction
    private let query: RowCursor.Query
    private let read: (borrowing Statement) throws -> Element?

    init(
        _ transaction: YapDatabaseReadTransaction, _ query: RowCursor.Query,
        _ read: @escaping (borrowing Statement) throws -> Element?
    ) {
        self.transaction = transaction
        self.query = query
        self.read = read
    }

    init(
        _ transaction: YapDatabaseReadTransaction, _ columns: RowCursor.Columns, _ collection: String,
        _ read: @escaping (borrowing Statement) throws -> Element?
    ) {
        self.init(transaction, RowCursor.Query(columns, .collections([collection])), read)
    }

    /// Returns an iterator before the first row.
    public func makeIterator() -> Iterator {
        precondition(!transaction.isEnded, "a sequence of rows was iterated after its transaction had ended")
        do {
            return Iterator(cursor: try RowCursor(transaction, query), read: read)
        } catch {
            if transaction.iterationError == nil { transaction.iterationError = error }
            return Iterator(cursor: nil, read: read)
        }
    }

    /// Iterates over the rows.
    public struct Iterator: IteratorProtocol {
        let cursor: RowCursor?
        let read: (borrowing Statement) throws -> Element?

        /// Returns the next row, or nil after the last row and after an error, which the enclosing `read` or
        /// `readWrite` throws.
        public mutating func next() -> Element? {
            cursor?.next(read)
        }
    }
}
