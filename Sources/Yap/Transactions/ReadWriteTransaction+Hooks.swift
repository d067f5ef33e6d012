/// Calls of the app's hooks around a write.
extension YapDatabaseReadWriteTransaction {
    /// Maximum depth of writes nested in hooks. Low, because each level uses the thread's stack.
    static let hookDepthMax = 16

    /// Calls the hooks before a change.
    ///
    /// - Throws: The error of a hook; `invalidExtension` if a hook has inserted or removed the row of the change.
    func callHooksBefore(_ change: YapDatabaseRowChange) throws {
        guard hears(change) else { return }
        let mutationCount = change.collection.map { mutations.count($0) }
        try callHooks(change) { try $0.beforeChange($1, in: self) }
        guard let collection = change.collection, mutations.count(collection) != mutationCount else { return }
        try toldOf { try checkIdentity(of: change) }
    }

    /// Calls the hooks after a change.
    func callHooksAfter(_ change: YapDatabaseRowChange) throws {
        if hears(change) { try callHooks(change) { try $0.afterChange($1, in: self) } }
    }

    /// Returns true if rows of the collection have hooks.
    func hasHooks(_ collection: String) -> Bool {
        store.extensions.contains { $0.hasHooks && $0.hears(of: collection) }
    }

    private func hears(_ change: YapDatabaseRowChange) -> Bool {
        store.extensions.contains { $0.hasHooks && $0.heard(change) != nil }
    }

    private func callHooks(
        _ change: YapDatabaseRowChange, _ body: (any RowHooks, YapDatabaseRowChange) throws -> Void
    ) throws {
        hookDepth += 1
        defer { hookDepth -= 1 }
        try toldOf {
            guard hookDepth <= Self.hookDepthMax else {
                throw YapDatabaseError(
                    .extensionsDoNotSettle,
                    "hooks called each other by their writes, more than \(Self.hookDepthMax) levels deep",
                    collection: change.collection)
            }
            for use in try uses() where use.entry.hasHooks {
                guard let hooks = use.transaction as? any RowHooks, let heard = use.entry.heard(change) else {
                    continue
                }
                try body(hooks, heard)
                // An error of a write that a hook has caught still fails the transaction.
                try check()
            }
        }
    }

    /// Checks that a row still has the rowid that the pending change was made for.
    private func checkIdentity(of change: YapDatabaseRowChange) throws {
        for row in change.rows {
            let rowID = try rows.rowID(row.key, row.collection) ?? 0
            guard rowID != row.rowID else { continue }
            throw YapDatabaseError(
                .invalidExtension, "a hook has inserted or removed the row that is about to be changed",
                collection: row.collection, key: row.key)
        }
    }
}
