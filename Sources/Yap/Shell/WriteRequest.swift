/// An asynchronous write in the queue of the writing thread.
protocol WriteRequest: AnyObject, Sendable {
    /// True if the write needs its own transaction.
    var isExclusive: Bool { get }
    /// Runs as a member of the open transaction, and stores the result. An exclusive request opens its own
    /// transaction.
    func run(in core: WriterCore)
    /// Turns a success into a failure, because the commit failed.
    func fail(_ error: any Error)
    /// Resumes the caller. Called once, at the end.
    func resume()
}

/// A `readWrite` closure of the app. Never runs twice.
final class MemberRequest<Value: Sendable>: WriteRequest, @unchecked Sendable {
    // Sendable because only one thread at a time uses it: the caller's, then the writing thread, through the queue.
    private var connection: YapDatabaseConnection?
    private let cancellation: TransactionCancellation?
    private let body: @Sendable (YapDatabaseReadWriteTransaction) throws -> Value
    private let answer: @Sendable (Result<Value, any Error>) -> Void
    private var outcome: Result<Value, any Error>?

    init(
        by connection: YapDatabaseConnection, cancellation: TransactionCancellation? = nil,
        _ body: @escaping @Sendable (YapDatabaseReadWriteTransaction) throws -> Value,
        answer: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.connection = connection
        self.cancellation = cancellation
        self.body = body
        self.answer = answer
    }

    var isExclusive: Bool { false }

    func run(in core: WriterCore) {
        outcome = Result { try core.member(by: connection, cancellation: cancellation, body) }
    }

    func fail(_ error: any Error) {
        if case .failure = outcome { return }
        outcome = .failure(error)
    }

    func resume() {
        // The caller retains it until the result arrives, and releases it last.
        connection = nil
        guard let outcome else { preconditionFailure("a write was answered before it ran") }
        answer(outcome)
    }
}

/// A change of the database itself, such as registering an extension.
final class ExclusiveRequest<Value: Sendable>: WriteRequest, @unchecked Sendable {
    // Sendable for the same reason as `MemberRequest`.
    private let body: @Sendable (WriterCore) throws -> Value
    private let answer: @Sendable (Result<Value, any Error>) -> Void
    private var outcome: Result<Value, any Error>?

    init(
        _ body: @escaping @Sendable (WriterCore) throws -> Value,
        answer: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.body = body
        self.answer = answer
    }

    var isExclusive: Bool { true }

    func run(in core: WriterCore) {
        outcome = Result { try body(core) }
    }

    func fail(_ error: any Error) {
        if case .failure = outcome { return }
        outcome = .failure(error)
    }

    func resume() {
        guard let outcome else { preconditionFailure("a change was answered before it ran") }
        answer(outcome)
    }
}
