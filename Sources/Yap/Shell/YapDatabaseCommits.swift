/// The commits of a database in their order, from the moment it was asked for them. It ends when the database
/// is closed.
///
/// It keeps the newest `bufferedCommitsMax` commits for a slow reader. The one after a gap says in
/// `missedCommits` how many were dropped.
public struct YapDatabaseCommits: AsyncSequence, Sendable {
    /// How many commits wait for a slow reader.
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

    /// An iterator over what has come since the subscription. One subscription has one iterator.
    public func makeAsyncIterator() -> Iterator {
        Iterator(base: stream.makeAsyncIterator(), last: firstSnapshot)
    }

    /// Walks through the commits.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<YapDatabaseCommit>.Iterator
        var last: UInt64

        /// The next commit; `nil` when the database was closed or the task was cancelled.
        public mutating func next() async -> YapDatabaseCommit? {
            guard var commit = await base.next() else { return nil }
            commit.missedCommits = commit.snapshot > last ? commit.snapshot - last - 1 : 0
            last = Swift.max(last, commit.snapshot)
            return commit
        }
    }
}
