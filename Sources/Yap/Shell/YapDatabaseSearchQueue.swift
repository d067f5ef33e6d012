import System

/// Runs searches of a view of search results while a user types. Only the newest search completes.
///
/// ```swift
/// let searches = YapDatabaseSearchQueue(found, connection)
/// // For each character:
/// searches.enqueue(.prefix(typed))
/// ```
///
/// A pending search is skipped when a newer one replaces it. A running one is ended between steps of up to 500 rows
/// and undone, so that the view never contains a part of its rows. The newest search is the one that was enqueued
/// last.
public final class YapDatabaseSearchQueue<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    /// The view to search.
    public let view: YapDatabaseSearchResultsView<Object, Group>
    private let connection: YapDatabaseConnection
    /// Number of the newest search.
    private let newest = Lock<UInt64>(0)

    private struct Replaced: Error {}

    /// Creates a queue. Use one queue for each view, because a queue can't cancel the searches of another
    /// queue.
    ///
    /// - Parameters:
    ///   - view: The view to search. It must be registered.
    ///   - connection: The connection that writes the results.
    public init(_ view: YapDatabaseSearchResultsView<Object, Group>, _ connection: YapDatabaseConnection) {
        self.view = view
        self.connection = connection
    }

    /// Makes a search the newest one, starts it and returns at once.
    ///
    /// - Parameter query: The query. Nil empties the view.
    /// - Returns: The task of the search, with the value and errors of `search(_:)`. Cancelling it cancels the wait
    ///   for the writer.
    @discardableResult
    public func enqueue(_ query: YapDatabaseTextQuery<Object>?) -> Task<Bool, any Error> {
        let number = next()
        return Task { try await search(query, number) }
    }

    /// Searches in a write transaction of its own, and waits until it ends.
    ///
    /// The search becomes the newest one when this method begins, on the caller's actor. Tasks on several threads may
    /// begin in another order than they were created in: use `enqueue(_:)` to start searches from such tasks.
    ///
    /// - Parameters:
    ///   - query: The query. Nil empties the view.
    ///   - isolation: The caller's actor.
    /// - Returns: False if a newer search or `cancel()` came before this one was complete. The view is then
    ///   unchanged.
    /// - Throws: The errors of `YapDatabaseSearchResultsViewTransaction.search(_:)` and `connection.readWrite`. A
    ///   search that was replaced throws nothing.
    @discardableResult
    public func search(
        _ query: YapDatabaseTextQuery<Object>?, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        try await search(query, next())
    }

    /// Ends the pending or running search, and undoes it. The view keeps the previous results.
    public func cancel() { _ = next() }

    /// Returns the number of a new search, which is then the newest.
    func next() -> UInt64 {
        newest.withLock { number in
            number += 1
            return number
        }
    }

    /// Runs the search with a number. `willCheck` is called before each check whether the search is still the
    /// newest.
    func search(
        _ query: YapDatabaseTextQuery<Object>?, _ number: UInt64,
        willCheck: @escaping @Sendable () -> Void = {}
    ) async throws -> Bool {
        do {
            try await connection.readWrite { [self] transaction in
                try transaction[view].search(query) {
                    willCheck()
                    if newest.withLock({ $0 }) != number { throw Replaced() }
                }
            }
            return true
        } catch is Replaced {
            return false
        }
    }
}
