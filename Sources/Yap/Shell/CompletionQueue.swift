import System

/// The completions that transactions add, from then until they are called: one at a time, after the commit.
final class CompletionQueue: Sendable {
    typealias Completion = @Sendable () -> Void

    /// Maximum number of completions that were added and not called.
    static let completionsMax = 10_000

    private let added: Lock<Int>
    private let queue: HandlerQueue<Completion>

    init() {
        let added = Lock(0)
        self.added = added
        // Without a limit of its own: none may be dropped, and each has its place.
        queue = HandlerQueue(label: "Yap.completions", valuesMax: .max) { completion in
            added.withLock { $0 -= 1 }
            completion()
        }
    }

    /// Takes the place of one completion.
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

    /// Gives back the places of completions that will not be called.
    func release(_ count: Int) { added.withLock { $0 -= count } }

    /// Queues completions, each of which has its place.
    func add(_ completions: [Completion]) {
        for completion in completions { queue.add(completion) }
    }
}
