/// An extension's transaction that calls code of the app, which may write rows.
///
/// Other extensions handle a write in `willChange` and `didChange`. A write between these two, or between the
/// `didChange` of two extensions, would reach them in the wrong order. So code of the app runs before the first
/// `willChange` and after the last `didChange`.
protocol RowHooks: YapDatabaseExtensionTransaction {
    /// Called before `willChange` is called on any extension. Rows may be written.
    func beforeChange(_ change: YapDatabaseRowChange, in transaction: YapDatabaseReadWriteTransaction) throws

    /// Called after `didChange` was called on all extensions. Rows may be written.
    func afterChange(_ change: YapDatabaseRowChange, in transaction: YapDatabaseReadWriteTransaction) throws
}

extension YapDatabaseExtension {
    /// True if transactions of the extension are `RowHooks`.
    var hasHooks: Bool { Connection.Transaction.self is any RowHooks.Type }
}
