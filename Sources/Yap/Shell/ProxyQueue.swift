import Seams

/// The changes of a proxy on their way to the file, and the callers that wait for them.
final class ProxyQueue<Object: Sendable>: Sendable {
    typealias Changes = ProxyChanges<Object>
    typealias Answer = @Sendable (Result<Void, any Error>) -> Void

    private struct State {
        var pending = Changes()
        /// Taken by a transaction that isn't committed yet.
        var written = Changes()
        /// The key whose change the transaction makes now.
        var keyNow: String?
        /// Number of changes that the app has made, and that the transaction has taken or has had before.
        var changesCount: UInt64 = 0
        var takenCount: UInt64 = 0
        var isWriting = false
        /// The first discarded change that no flush has reported.
        var discarded: YapDatabaseProxyError?
        var flushes: [(changesCount: UInt64, answer: Answer)] = []

        /// Whether a row may have a pending change: up to `max` rows are pending after a failure, too.
        func hasRoom(for key: String, max: Int) -> Bool {
            pending.hasChange(of: key) || written.hasChange(of: key) || pending.count + written.count < max
        }

        /// Says whether the caller must begin to write.
        mutating func startsWriting() -> Bool {
            defer { isWriting = true }
            return !isWriting
        }
    }

    /// Failures that wait for a slow handler.
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

    /// The change that decides what `key` has; nil if the database does.
    func change(of key: String) -> Changes.Change? {
        state.withLock { $0.pending[key] ?? $0.written[key] }
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

    /// Forgets the changes that no transaction has taken.
    func discardPending() {
        let old = state.withLock { state in
            defer { state.pending = Changes() }
            return state.pending
        }
        withExtendedLifetime(old) {}
    }

    /// Calls `answer` when the changes so far are committed, or when that failed.
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

    /// Queues a transaction that takes what is pending when it runs. It holds this object until it is answered: changes
    /// are written also when the app has released the proxy.
    ///
    /// No task is needed for it: a thread of the cooperative pool that waits for a flush would be missing for one.
    private func write() {
        let request = MemberRequest {
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
            state.pending = Changes()
            state.takenCount = state.changesCount
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
            // Changes that were dropped meanwhile are waited for no longer.
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

    /// Discards the one change that can never be written, and goes on with the others. Without such a change all stay
    /// pending, and nothing is written until the next change or flush.
    private func failed(_ error: any Error) {
        let isOfAChange = Self.isOfAChange(error)
        let (failure, answers, old) = state.withLock { state in
            let old = state.written
            var kept = state.written
            let key = isOfAChange ? state.keyNow : nil
            if let key { _ = kept.discard(key) }
            state.pending = kept.followed(by: state.pending)
            state.written = Changes()
            state.keyNow = nil
            let failure = YapDatabaseProxyError(collection: collection, discardedKey: key, underlying: error)
            guard key == nil else {
                if state.discarded == nil { state.discarded = failure }
                return (failure, [Answer](), old)
            }
            state.isWriting = false
            defer { state.flushes = [] }
            return (failure, state.flushes.map(\.answer), old)
        }
        withExtendedLifetime(old) {}
        failures.add(failure)
        for answer in answers { answer(.failure(failure)) }
        if failure.discardedKey != nil { write() }
    }

    /// Whether an error is one of the value, as encoding it is, and not of the file: it would be the same again.
    private static func isOfAChange(_ error: any Error) -> Bool {
        guard let error = error as? YapDatabaseError else { return true }
        return switch error.code {
        case .encoding, .decoding, .typeMismatch, .missingRegistration, .invalidExtension: true
        default: false
        }
    }
}
