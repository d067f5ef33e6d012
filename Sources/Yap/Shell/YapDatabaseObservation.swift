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

/// The values of a query over time. It ends when the database is closed or the task is cancelled, and throws what the
/// query throws.
public struct YapDatabaseObservation<Value: Sendable>: AsyncSequence, Sendable {
    /// Waits for the end of a pause.
    typealias Pause = @Sendable () async throws -> Void

    let connection: YapDatabaseConnection
    let query: @Sendable (YapDatabaseReadTransaction) throws -> Value
    /// Whether a value is left out after another.
    var isDuplicate: @Sendable (_ last: Value, _ next: Value) -> Bool = { _, _ in false }
    /// Begins a pause after a read.
    var beginPause: (@Sendable () -> Pause)?

    /// Leaves out a value that is as the one before it. The query runs as often as without this.
    ///
    /// ```swift
    /// let counts = connection.observe { try $0.numberOfKeys(inCollection: "todos") }.removingDuplicates { $0 == $1 }
    /// ```
    ///
    /// - Parameter areSame: Whether two values are the same.
    public func removingDuplicates(
        by areSame: @escaping @Sendable (_ last: Value, _ next: Value) -> Bool
    ) -> Self {
        var observation = self
        observation.isDuplicate = areSame
        return observation
    }

    /// Reads at most once in an interval. The first value comes at once. A commit within an interval after a read is
    /// answered at the end of the interval, with the value of then.
    ///
    /// ```swift
    /// for try await count in connection.observe(count).atMostEvery(.milliseconds(250)) { show(count) }
    /// ```
    ///
    /// - Parameters:
    ///   - interval: The shortest time between two reads.
    ///   - clock: Measures it. A test gives a clock of its own.
    public func atMostEvery<C: Clock>(_ interval: Duration, clock: C = ContinuousClock()) -> Self
    where C.Duration == Duration {
        var observation = self
        observation.beginPause = {
            let end = clock.now.advanced(by: interval)
            return { try await clock.sleep(until: end, tolerance: nil) }
        }
        return observation
    }

    /// An iterator whose first value is that of now.
    public func makeAsyncIterator() -> Iterator {
        Iterator(observation: self, commits: connection.database.commits.makeAsyncIterator())
    }

    /// Reads when it is asked for the next value.
    public struct Iterator: AsyncIteratorProtocol {
        let observation: YapDatabaseObservation
        var commits: YapDatabaseCommits.Iterator
        var reads: ReadDependencies?
        var snapshot: UInt64 = 0
        var last: Value?
        var pause: Pause?

        /// The value now, or after the next commit that can change it.
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
                    // One that the last value has seen already is of no interest.
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

        /// Waits for the end of a pause. Returns false if nothing is to be read any more.
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
    /// Leaves out a value that equals the one before it. The query runs as often as without this.
    public func removingDuplicates() -> Self { removingDuplicates { $0 == $1 } }
}
