/// What the app attaches to a write transaction. Made for the first attachment: other writes pay nothing.
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

    /// Drops the completions that were added after the first `count`.
    func keepCompletions(_ count: Int) {
        queue.release(completions.count - count)
        completions.removeLast(completions.count - count)
    }

    /// Queues the completions, after the commit.
    func complete() {
        queue.add(completions)
        completions = []
    }
}

extension YapDatabaseReadWriteTransaction {
    /// A value of the app's own, which observers find as `YapDatabaseCommit.info`: for example why the rows changed.
    ///
    /// ```swift
    /// try await connection.readWrite { transaction in
    ///     transaction.commitInfo = Reason.importOfContacts
    ///     try transaction.setObject(contact, forKey: contact.id, inCollection: "contacts")
    /// }
    /// ```
    ///
    /// nil at the beginning. It isn't stored: other processes don't get it. A transaction that changes nothing makes no
    /// commit. A savepoint that fails brings back the value from before it.
    public var commitInfo: (any Sendable)? {
        get { attachments?.commitInfo }
        set {
            if attachments == nil, newValue == nil { return }
            makeAttachments().commitInfo = newValue
        }
    }

    /// Adds a closure that is called once after the transaction was committed, also if it changed nothing. It isn't
    /// called after a rollback or an error, and not if it was added in a savepoint that failed.
    ///
    /// ```swift
    /// try transaction.removeObject(forKey: id, inCollection: "drafts")
    /// try transaction.addCompletion { removeThumbnail(of: id) }
    /// ```
    ///
    /// It is called on a queue of the database's own and with no lock held, so it may begin transactions. The closures
    /// of all transactions are called one at a time, in the order of the commits and then of their adding: one that
    /// blocks delays those after it, and no write. It may be called before or after `readWrite` returns. If the process
    /// ends before, it isn't called: use an action for what must happen.
    ///
    /// Up to 10,000 completions of a database may be added and not called yet.
    ///
    /// - Parameter completion: Called after the commit.
    /// - Throws: `YapDatabaseError`: `tooManyCompletions`, after which the transaction may go on; another code if the
    ///   transaction has ended or failed.
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
