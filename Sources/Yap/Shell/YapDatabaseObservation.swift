extension YapDatabaseConnection {
    /// Returns the value of `query` now, and again after each commit that may change it: a commit that changes a row,
    /// a list of a collection, or a part of an extension that the query read. If it read more than 100 keys of a
    /// collection, each change in the collection counts.
    ///
    /// ```swift
    /// for try await count in connection.observe({ try $0.numberOfKeys(inCollection: "todos") }) { show(count) }
    /// ```
    ///
    /// Commits that arrive while no value is being awaited lead to one value, the newest.
    ///
    /// - Parameter query: Reads the value. It runs again for each value.
    /// - Returns: A sequence of values, which throws the errors of `query`.
    public func observe<Value: Sendable>(
        _ query: @escaping @Sendable (YapDatabaseReadTransaction) throws -> Value
    ) -> YapDatabaseObservation<Value> {
        YapDatabaseObservation(connection: self, query: query)
    }
}

/// Values of a query over time. Ends when the database is closed or the task is cancelled, and throws the errors of
/// the query.
public struct YapDatabaseObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// Waits for the end of a pause.
    typealias Pause = @Sendable () async throws -> Void

    let connection: YapDatabaseConnection
    let query: @Sendable (YapDatabaseReadTransaction) throws -> Value
    /// Returns true if a value is to be skipped after another.
    var isDuplicate: @Sendable (_ last: Value, _ next: Value) -> Bool = { _, _ in false }
    /// Begins a pause after a read.
    var beginPause: (@Sendable () -> Pause)?

    /// Skips a value that is the same as the previous one. The query runs as often as without this.
    ///
    /// ```swift
    /// let counts = connection.observe { try $0.numberOfKeys(inCollection: "todos") }
    ///     .removingDuplicates { $0 == $1 }
    /// ```
    ///
    /// - Parameter areSame: Returns true if two values are the same.
    public func removingDuplicates(
        by areSame: @escaping @Sendable (_ last: Value, _ next: Value) -> Bool
    ) -> Self {
        var observation = self
        observation.isDuplicate = areSame
        return observation
    }

    /// Reads at most once in an interval. The first value comes at once. After a commit within an interval, the next
    /// value is read at the end of the interval.
    ///
    /// ```swift
    /// for try await count in connection.observe(count).atMostEvery(.milliseconds(250)) { show(count) }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: Minimum time between two reads.
    ///   - clock: The clock that measures it. A test passes its own.
    public func atMostEvery<C: Clock>(_ interval: Duration, clock: C = ContinuousClock()) -> Self
    where C.Duration == Duration {
        var observation = self
        observation.beginPause = {
            let end = clock.now.advanced(by: interval)
            return { try await clock.sleep(until: end, tolerance: nil) }
        }
        return observation
    }

    /// Returns an iterator. Its first value is the current one.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observation: self, commits: connection.database.commits.makeAsyncIterator())
    }

    /// Reads when the next value is requested.
    public struct Iterator: AsyncIteratorProtocol {
        let observation: YapDatabaseObservation
        var commits: YapDatabaseCommits.Iterator
        var reads: ReadDependencies?
        var snapshot: UInt64 = 0
        var last: Value?
        var pause: Pause?

        /// Returns the current value, or the value after the next commit that may change it.
        public mutating func next() async throws -> Value? {
            while true {
                guard let value = try await nextRead() else { return nil }
                if let last, observation.isDuplicate(last, value) { continue }
                last = value
                return value
            }
        }

        private mutating func nextRead() async throws -> Value? {
            if let reads {
                repeat {
                    guard let commit = await commits.next() else { return nil }
                    // Skips a commit that the last value already includes.
                    if commit.snapshot > snapshot, reads.areChanged(by: commit) { break }
                } while true
                if try await !endPause() { return nil }
            }
            do {
                return try await read()
            } catch is CancellationError where Task.isCancelled {
                return nil
            }
        }

        private mutating func read() async throws -> Value {
            let query = observation.query
            let (answer, newReads) = try await observation.connection.readTracked(tracksReads: true) {
                transaction in
                (transaction.snapshot, try query(transaction))
            }
            reads = newReads
            snapshot = answer.0
            pause = observation.beginPause?()
            return answer.1
        }

        /// Waits for the end of a pause. Returns false if the sequence has ended.
        private func endPause() async throws -> Bool {
            guard let pause else { return true }
            do {
                try await pause()
            } catch is CancellationError {
                return false
            }
            return !observation.connection.database.isClosed
        }
    }
}

extension YapDatabaseObservation where Value: Equatable {
    /// Skips a value that equals the previous one. The query runs as often as without this.
    public func removingDuplicates() -> Self { removingDuplicates { $0 == $1 } }
}
