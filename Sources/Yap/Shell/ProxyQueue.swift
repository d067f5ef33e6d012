import System

/// Queue of a proxy's changes, and of the callers that wait for them to be committed.
final class ProxyQueue<Object: Sendable>: Sendable {
    typealias Changes = ProxyChanges<Object>
    typealias Answer = @Sendable (Result<Void, any Error>) -> Void

    private struct State {
        var pending = Changes()
        /// Changes taken by a transaction that isn't committed yet.
        var written = Changes()
        /// Key of the change that the transaction is writing.
        var keyNow: String?
        /// Number of changes that the app has made, and number that transactions have taken.
        var changesCount: UInt64 = 0
        var takenCount: UInt64 = 0
        var isWriting = false
        /// Maximum steps in the next transaction while the queue searches for a change that can't be written. Nil for
        /// no maximum.
        var stepsMax: Int?
        /// The first discarded change that no flush has reported.
        var discarded: YapDatabaseProxyError?
        var flushes: [(changesCount: UInt64, answer: Answer)] = []

        /// Returns true if the row may have a pending change. After a failure, too, up to `max` rows are pending.
        func hasRoom(for key: String, max: Int) -> Bool {
            pending.hasChange(of: key) || written.hasChange(of: key) || pending.count + written.count < max
        }

        /// Returns true if the caller must start writing.
        mutating func startsWriting() -> Bool {
            defer { isWriting = true }
            return !isWriting
        }
    }

    /// Maximum failures queued for a slow handler.
    private static var queuedFailuresMax: Int { 64 }

    private enum AfterFlush { case answer(YapDatabaseProxyError?), write, wait }

    private let connection: YapDatabaseConnection
    private let collection: String
    private let pendingMax: Int
    private let failures: HandlerQueue<YapDatabaseProxyError>
    private let state = Lock(State())

    init(
        _ connection: YapDatabaseConnection, _ collection: String, pendingMax: Int,
        whenFailed: @escaping @Sendable (YapDatabaseProxyError) -> Void
    ) {
        self.connection = connection
        self.collection = collection
        self.pendingMax = pendingMax
        failures = HandlerQueue(
            label: "Yap.proxyFailures", valuesMax: Self.queuedFailuresMax, handler: whenFailed)
    }

    /// Returns the change that determines the value of the row of `key`, or nil if the stored row is current.
    func change(of key: String) -> Changes.Change? {
        state.withLock { state in
            guard let pending = state.pending[key] else { return state.written[key] }
            return state.written[key]?.followed(by: pending) ?? pending
        }
    }

    /// Upper bound of the number of rows with pending changes.
    var pendingCount: Int { state.withLock { $0.pending.count + $0.written.count } }

    // MARK: Changing

    func add(_ change: Changes.Change, _ key: String) throws {
        try checkIsOpen()
        let added = state.withLock { state -> (mustStart: Bool, replaced: Changes.Change?)? in
            guard state.hasRoom(for: key, max: pendingMax) else { return nil }
            state.changesCount += 1
            let replaced = state.pending.add(change, key, number: state.changesCount)
            return (state.startsWriting(), replaced)
        }
        guard let added else {
            throw YapDatabaseError(
                .tooManyPendingChanges, "\(pendingMax) changes of the proxy are pending",
                collection: collection, key: key)
        }
        if added.mustStart { write() }
    }

    func addRemovalOfAll() throws {
        try checkIsOpen()
        let (mustStart, old) = state.withLock { state in
            let old = state.pending
            state.changesCount += 1
            state.pending.addRemovalOfAll()
            return (state.startsWriting(), old)
        }
        withExtendedLifetime(old) {}
        if mustStart { write() }
    }

    /// Discards the changes that no transaction has taken.
    func discardPending() {
        let old = state.withLock { state in
            defer { state.pending = Changes() }
            return state.pending
        }
        withExtendedLifetime(old) {}
    }

    /// Calls `answer` when the earlier changes are committed or have failed.
    func flush(_ answer: @escaping Answer) {
        let next = state.withLock { state -> AfterFlush in
            if state.pending.isEmpty, state.written.isEmpty, !state.isWriting {
                defer { state.discarded = nil }
                return .answer(state.discarded)
            }
            state.flushes.append((state.changesCount, answer))
            return state.startsWriting() ? .write : .wait
        }
        switch next {
        case .answer(let error): answer(error.map { .failure($0) } ?? .success(()))
        case .write: write()
        case .wait: break
        }
    }

    private func checkIsOpen() throws {
        if connection.database.isClosed { throw YapDatabaseError(.closed, "the database was closed") }
    }

    // MARK: Writing

    /// Queues a transaction that takes the pending changes when it runs. The transaction retains this object, so
    /// changes are written even if the app has released the proxy.
    ///
    /// It uses no task: a thread of the cooperative pool that waits for a flush would not be available for it.
    private func write() {
        let request = MemberRequest(by: connection) {
            try self.take().write($0, self.collection, note: self.noteKey)
        } answer: { result in
            switch result {
            case .success: self.succeeded()
            case .failure(let error): self.failed(error)
            }
        }
        connection.database.shell.write(request, connection.database.writer)
    }

    private func take() -> Changes {
        state.withLock { state in
            state.written = state.pending
            state.pending = state.stepsMax.map { state.written.split(after: $0) } ?? Changes()
            state.takenCount = state.pending.firstNumber.map { $0 - 1 } ?? state.changesCount
            return state.written
        }
    }

    private func noteKey(_ key: String?) {
        state.withLock { $0.keyNow = key }
    }

    private func succeeded() {
        let (goesOn, answers, error, old) = state.withLock { state in
            let old = state.written
            state.written = Changes()
            state.isWriting = !state.pending.isEmpty
            state.stepsMax = state.isWriting ? state.stepsMax.map { min($0, Int.max / 2) * 2 } : nil
            // Flushes don't wait for discarded changes.
            let taken = state.isWriting ? state.takenCount : .max
            let answers = state.flushes.filter { $0.changesCount <= taken }.map(\.answer)
            state.flushes.removeAll { $0.changesCount <= taken }
            let error = state.discarded
            if !answers.isEmpty { state.discarded = nil }
            return (state.isWriting, answers, error, old)
        }
        withExtendedLifetime(old) {}
        for answer in answers { answer(error.map { .failure($0) } ?? .success(())) }
        if goesOn { write() }
    }

    /// The reaction to a failed transaction.
    private enum AfterFailure {
        /// Keep all changes pending, and write nothing until the next change or flush.
        case stop
        /// Try fewer changes at once, to find the one that fails.
        case tryFewer(Int)
        /// Discard the change of a row, and try the others again. Nil is the removal of all rows.
        case discard(key: String?)
    }

    /// Discards the change that can't be written, and continues with the others. If the error doesn't identify it, as
    /// at the end of the transaction, tries half as many changes until one fails alone.
    private func failed(_ error: any Error) {
        let isOfFile = Self.isOfFile(error)
        let (failure, answers, old, goesOn) = state.withLock {
            state -> (YapDatabaseProxyError?, [Answer], Changes, Bool) in
            let old = state.written
            var kept = state.written
            let next = isOfFile ? .stop : Self.afterFailure(of: old, at: state.keyNow)
            switch next {
            case .stop: break
            case .tryFewer(let count): state.stepsMax = count
            case .discard(let key?): _ = kept.discard(key)
            case .discard(nil): kept.discardRemovalOfAll()
            }
            state.pending = kept.followed(by: state.pending)
            state.written = Changes()
            state.keyNow = nil
            switch next {
            case .stop:
                let failure = YapDatabaseProxyError(collection: collection, underlying: error)
                (state.isWriting, state.stepsMax) = (false, nil)
                defer { state.flushes = [] }
                return (failure, state.flushes.map(\.answer), old, false)
            case .tryFewer: return (nil, [], old, true)
            case .discard(let key):
                let failure = YapDatabaseProxyError(
                    collection: collection, discardedKey: key, isRemovalOfAllDiscarded: key == nil,
                    underlying: error)
                if state.discarded == nil { state.discarded = failure }
                return (failure, [], old, true)
            }
        }
        withExtendedLifetime(old) {}
        if let failure {
            failures.add(failure)
            for answer in answers { answer(.failure(failure)) }
        }
        if goesOn { write() }
    }

    /// - Parameter key: Key of the change that was being written, or nil if unknown.
    private static func afterFailure(of changes: Changes, at key: String?) -> AfterFailure {
        if let key { return .discard(key: key) }
        if changes.stepsCount > 1 { return .tryFewer(changes.stepsCount / 2) }
        return changes.isEmpty ? .stop : .discard(key: changes.inOrder.first?.key)
    }

    /// Returns true if the changes didn't cause the error, so that they can be written later. Any other error
    /// comes from a value, a hook or another extension, and would happen again.
    private static func isOfFile(_ error: any Error) -> Bool {
        guard let error = error as? YapDatabaseError else { return false }
        return switch error.code {
        case .busy, .diskFull, .inputOutput, .corrupt, .cannotOpen, .notADatabase, .notAYapDatabase,
            .unsupportedFormat, .closed:
            true
        default: false
        }
    }
}
