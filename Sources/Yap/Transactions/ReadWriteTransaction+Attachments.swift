/// Values and completions that the app attaches to a write transaction. Created for the first attachment, so that
/// other writes cost nothing.
final class TransactionAttachments {
    var commitInfo: (any Sendable)?
    var completionsCount: Int { completions.count }
    private var completions: [CompletionQueue.Completion] = []
    private let queue: CompletionQueue

    init(_ queue: CompletionQueue) { self.queue = queue }

    deinit { queue.release(completions.count) }

    func add(_ completion: @escaping CompletionQueue.Completion) throws {
        try queue.reserve()
        completions.append(completion)
    }

    /// Discards the completions that were added after the first `count`.
    func keepCompletions(_ count: Int) {
        queue.release(completions.count - count)
        completions.removeLast(completions.count - count)
    }

    /// Queues the completions after the commit.
    func complete() {
        queue.add(completions)
        completions = []
    }
}

extension YapDatabaseReadWriteTransaction {
    /// A value of the app that observers receive as `YapDatabaseCommit.info`, for example why the rows changed.
    ///
    /// ```swift
    /// try await connection.readWrite { transaction in
    ///     transaction.commitInfo = Reason.importOfContacts
    ///     try transaction.setObject(contact, forKey: contact.id, inCollection: "contacts")
    /// }
    /// ```
    ///
    /// Nil at the beginning. It isn't stored, so other processes don't receive it. A transaction that changes nothing
    /// makes no commit. A savepoint that fails restores the value from before it.
    public var commitInfo: (any Sendable)? {
        get { attachments?.commitInfo }
        set {
            if attachments == nil, newValue == nil { return }
            makeAttachments().commitInfo = newValue
        }
    }

    /// Adds a closure that is called once after the transaction has committed, even if it changed nothing. It isn't
    /// called after a rollback or an error, or if it was added in a savepoint that failed.
    ///
    /// ```swift
    /// try transaction.removeObject(forKey: id, inCollection: "drafts")
    /// try transaction.addCompletion { removeThumbnail(of: id) }
    /// ```
    ///
    /// It is called on a queue of the database with no lock held, so it may begin transactions. The closures of all
    /// transactions are called one at a time, in the order of the commits and of their adding. One that blocks delays
    /// those after it, but no write. It may be called before or after `readWrite` returns. If the process ends first,
    /// it isn't called: use an action for work that must happen.
    ///
    /// A database can have up to 10,000 pending completions.
    ///
    /// - Parameter completion: Called after the commit.
    /// - Throws: `YapDatabaseError`: `tooManyCompletions`, after which the transaction may continue; another code if
    ///   the transaction has ended or failed.
    public func addCompletion(_ completion: @escaping @Sendable () -> Void) throws {
        try check()
        try makeAttachments().add(completion)
    }

    private func makeAttachments() -> TransactionAttachments {
        if let attachments { return attachments }
        let made = TransactionAttachments(store.completions)
        attachments = made
        return made
    }
}
