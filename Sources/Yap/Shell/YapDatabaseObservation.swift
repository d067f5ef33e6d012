extension YapDatabaseConnection {
    /// The value of `query` now, and again after each commit that can change it: one that changes a row, a list of a
    /// collection or a part of an extension that it read. When it read more than 100 keys of a collection, each change
    /// in the collection counts.
    ///
    /// Commits that come while nobody waits for the next value are answered by one value, the newest.
    public func observe<Value: Sendable>(
        _ query: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Value
    ) -> YapDatabaseObservation<Value> {
        YapDatabaseObservation(connection: self, query: query)
    }
}

/// The values of a query over time. It ends when the database is closed, and throws what the query throws.
public struct YapDatabaseObservation<Value: Sendable>: AsyncSequence, Sendable {
    let connection: YapDatabaseConnection
    let query: @Sendable (YapDatabaseReadTransaction) throws -> Value

    /// An iterator whose first value is that of now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            connection: connection, query: query, commits: connection.database.commits.makeAsyncIterator())
    }

    /// Reads when it is asked for the next value.
    public struct Iterator: AsyncIteratorProtocol {
        let connection: YapDatabaseConnection
        let query: @Sendable (YapDatabaseReadTransaction) throws -> Value
        var commits: YapDatabaseCommits.Iterator
        var reads: ReadDependencies?
        var snapshot: UInt64 = 0

        /// The value now, or after the next commit that can change it.
        public mutating func next() async throws -> Value? {
            if let reads {
                repeat {
                    guard let commit = await commits.next() else { return nil }
                    // One that the last value has seen already is of no interest.
                    if commit.snapshot > snapshot, reads.areChanged(by: commit) { break }
                } while true
            }
            let query = query
            let (answer, newReads) = try await connection.readTracked(tracksReads: true) { transaction in
                (transaction.snapshot, try query(transaction))
            }
            reads = newReads
            snapshot = answer.0
            return answer.1
        }
    }
}
