import System

/// Runs the searches of a view of search results while a person types: only the newest one.
///
/// ```swift
/// let searches = YapDatabaseSearchQueue(found, connection)
/// // For each character:
/// searches.enqueue(.prefix(typed))
/// ```
///
/// A search that a newer one replaces doesn't run any more. A running one is ended between steps of up to 500 rows and
/// undone, so that the view never has a part of its rows. The newest search is the one that was enqueued last.
public final class YapDatabaseSearchQueue<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    /// The view that is searched.
    public let view: YapDatabaseSearchResultsView<Object, Group>
    private let connection: YapDatabaseConnection
    /// Number of the newest search.
    private let newest = Lock<UInt64>(0)

    private struct Replaced: Error {}

    /// Makes a queue. Use one for a view: queues don't know each other's searches.
    public init(_ view: YapDatabaseSearchResultsView<Object, Group>, _ connection: YapDatabaseConnection) {
        self.view = view
        self.connection = connection
    }

    /// Makes a search the newest one, starts it and returns at once: of two calls, the later one counts.
    ///
    /// - Parameter query: What to look for; nil empties the view.
    /// - Returns: The task of the search. Its value and its errors are those of `search(_:)`. Cancelling it cancels the
    ///   wait for the writer.
    @discardableResult
    public func enqueue(_ query: YapDatabaseTextQuery<Object>?) -> Task<Bool, any Error> {
        let number = next()
        return Task { try await search(query, number) }
    }

    /// Searches in a write transaction of its own, and waits for its end.
    ///
    /// The search becomes the newest one when this method begins, on the caller's actor. Tasks that run on several
    /// threads may begin in another order than they were made in: use `enqueue(_:)` to start searches from such tasks.
    ///
    /// - Parameters:
    ///   - query: What to look for; nil empties the view.
    ///   - isolation: The caller's actor.
    /// - Returns: False if a newer search or `cancel()` came before this one was complete. The view is then unchanged.
    /// - Throws: As `YapDatabaseSearchResultsViewTransaction.search(_:)` and `connection.readWrite`. A search that was
    ///   replaced throws nothing.
    @discardableResult
    public func search(
        _ query: YapDatabaseTextQuery<Object>?, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Bool {
        try await search(query, next())
    }

    /// Ends the search that is pending or running, and undoes it. The view keeps the results of the one before.
    public func cancel() { _ = next() }

    /// Takes the number of a new search, which is then the newest.
    func next() -> UInt64 {
        newest.withLock { number in
            number += 1
            return number
        }
    }

    /// Runs the search of a number. `willCheck` is called before each check whether it is the newest.
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
