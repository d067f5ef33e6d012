/// The commits of a database in order, from the moment of the subscription. Ends when the database is closed.
///
/// It buffers the newest `bufferedCommitsMax` commits for a slow reader. After a gap, `missedCommits` of the next
/// commit is the number of dropped ones.
public struct YapDatabaseCommits: AsyncSequence, Sendable {
    /// Maximum commits buffered for a slow reader.
    public static let bufferedCommitsMax = 64

    private let stream: AsyncStream<YapDatabaseCommit>
    private let firstSnapshot: UInt64

    init(_ publisher: CommitPublisher) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: YapDatabaseCommit.self, bufferingPolicy: .bufferingNewest(Self.bufferedCommitsMax))
        let added = publisher.add({ continuation.yield($0) }, whenEnded: { continuation.finish() })
        continuation.onTermination = { [weak publisher] _ in publisher?.remove(added.id) }
        self.stream = stream
        firstSnapshot = added.snapshot
    }

    /// Returns an iterator over the commits since the subscription. A subscription has one iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator(), last: firstSnapshot)
    }

    /// Iterates over the commits.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<YapDatabaseCommit>.Iterator
        var last: UInt64

        /// Returns the next commit, or nil if the database was closed or the task was cancelled.
        public mutating func next() async -> YapDatabaseCommit? {
            guard var commit = await base.next() else { return nil }
            commit.missedCommits = commit.snapshot > last ? commit.snapshot - last - 1 : 0
            last = Swift.max(last, commit.snapshot)
            return commit
        }
    }
}
