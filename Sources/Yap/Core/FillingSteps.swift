import System

/// The batches of one registration. A temporarily busy file doesn't end it.
final class FillingSteps: Sendable {
    /// Maximum consecutive batches that find the file busy. Each waits for the busy timeout.
    static let busyRetriesMax = 10

    private let generation: UInt64
    private let state = Lock((busyCount: 0, part: 0.0))

    init(_ generation: UInt64) {
        self.generation = generation
    }

    /// Passes the next batch to the extension. If the file is busy, does nothing, and the next call tries
    /// again.
    ///
    /// - Returns: The result of `ExtensionFiller.fillNext`.
    /// - Throws: The errors of `ExtensionFiller.fillNext`; `busy` after too many consecutive attempts.
    func next(_ core: WriterCore) throws -> Double? {
        do {
            let part = try ExtensionFiller(core).fillNext(generation)
            state.withLock { $0 = (0, part ?? 1) }
            return part
        } catch let error as YapDatabaseError where error.code == .busy {
            // The filling has ended with an error of the extension.
            guard core.store.filling.contains(where: { $0.registered.generation == generation }) else {
                throw error
            }
            return try state.withLock { state in
                state.busyCount += 1
                if state.busyCount > Self.busyRetriesMax { throw error }
                return state.part
            }
        }
    }
}
