import System

/// Queue of the completions that transactions add. Calls them one at a time, after the commit.
final class CompletionQueue: Sendable {
    typealias Completion = @Sendable () -> Void

    /// Maximum number of pending completions.
    static let completionsMax = 10_000

    private let added: Lock<Int>
    private let queue: HandlerQueue<Completion>

    init() {
        let added = Lock(0)
        self.added = added
        // The queue itself has no limit: no completion may be dropped, and each has reserved its place.
        queue = HandlerQueue(label: "Yap.completions", valuesMax: .max) { completion in
            added.withLock { $0 -= 1 }
            completion()
        }
    }

    /// Reserves the place of one completion.
    ///
    /// - Throws: `YapDatabaseError`: `tooManyCompletions`.
    func reserve() throws {
        try added.withLock { added in
            guard added < Self.completionsMax else {
                throw YapDatabaseError(
                    .tooManyCompletions, "\(Self.completionsMax) completions were added and not called yet")
            }
            added += 1
        }
    }

    /// Releases the places of completions that won't be called.
    func release(_ count: Int) { added.withLock { $0 -= count } }

    /// Queues completions with reserved places.
    func add(_ completions: [Completion]) {
        for completion in completions { queue.add(completion) }
    }
}
