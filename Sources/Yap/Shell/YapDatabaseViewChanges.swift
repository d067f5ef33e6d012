extension YapDatabaseConnection {
    /// Returns the sections and rows of a view now, and then each change as one batch for a list.
    ///
    /// ```swift
    /// var list = YapDatabaseViewSections<String, Todo>()
    /// for try await change in connection.changes(of: open, sections: .sorted.rows(.first(50))) {
    ///     list.apply(change)
    /// }
    /// ```
    ///
    /// Commits that arrive while no change is being awaited lead to one change to the newest snapshot. No snapshot is
    /// held in between.
    ///
    /// - Parameters:
    ///   - view: A registered view.
    ///   - mappings: Which groups are sections, and which of their rows are shown. A range such as `.first(50)`
    ///     limits what is read and kept.
    /// - Returns: A sequence of changes.
    public func changes<Object: Sendable, Group: YapDatabaseViewGroup>(
        of view: YapDatabaseView<Object, Group>, sections mappings: YapDatabaseViewMappings<Group> = .sorted
    ) -> YapDatabaseViewChanges<Object, Group> {
        YapDatabaseViewChanges(connection: self, reader: ViewReader(view, mappings, log: database.log))
    }
}

/// Changes of a view over time. Ends when the database is closed or the task is cancelled, and throws
/// `YapDatabaseError`: `extensionNotRegistered` if the view isn't registered, `decoding`, or an error of the file.
public struct YapDatabaseViewChanges<Object: Sendable, Group: YapDatabaseViewGroup>: AsyncSequence, Sendable {
    let connection: YapDatabaseConnection
    let reader: ViewReader<Object, Group>

    /// Returns an iterator. Its first change is a reset with the current content.
    public func makeAsyncIterator() -> Iterator {
        Iterator(
            connection: connection, reader: reader, commits: connection.database.commits.makeAsyncIterator())
    }

    /// Reads when the next change is requested.
    public struct Iterator: AsyncIteratorProtocol {
        let connection: YapDatabaseConnection
        var reader: ViewReader<Object, Group>
        var commits: YapDatabaseCommits.Iterator

        /// Returns the current content, or what has changed since the last call, as soon as something has.
        public mutating func next() async throws -> YapDatabaseViewChange<Object, Group>? {
            do {
                return try await nextChange()
            } catch is CancellationError where Task.isCancelled {
                return nil
            }
        }

        private mutating func nextChange() async throws -> YapDatabaseViewChange<Object, Group>? {
            if reader.mark == nil { return try await read() }
            while let commit = await commits.next() {
                guard reader.isConcerned(by: commit) else { continue }
                let change = try await read()
                if !change.isEmpty { return change }
            }
            return nil
        }

        private mutating func read() async throws -> YapDatabaseViewChange<Object, Group> {
            let reader = reader
            let (change, newReader) = try await connection.read { transaction in
                var reader = reader
                return (try reader.read(transaction), reader)
            }
            self.reader = newReader
            return change
        }
    }
}
