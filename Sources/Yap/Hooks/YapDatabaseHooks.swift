/// Closures of the app that run in each write transaction, before and after a row changes.
///
/// ```swift
/// let stamps = YapDatabaseHooks(
///     "stamps", of: Todo.self, in: "todos",
///     didModify: { change, transaction in
///         guard change.kind.contains(.changedObject) else { return }
///         try transaction.replaceMetadata(Stamp(), forKey: change.key, inCollection: change.collection)
///     })
/// try await database.register(stamps)
/// ```
///
/// They run for each write of this process, also those of `CloudSync`, but not for the rows that exist when they are
/// registered. Nothing about them is stored: a program that doesn't register them writes without them.
///
/// A hook that throws fails the whole transaction. A hook may read and write with its transaction. Its writes call
/// the hooks again, up to 16 levels deep; beyond that the transaction fails with `extensionsDoNotSettle`. When a hook
/// runs, other extensions have handled all earlier writes. Hooks registered under several names run in the order of
/// registration.
public final class YapDatabaseHooks<Object: Sendable>: YapDatabaseNamedExtension {
    /// Called with a change of a row.
    public typealias ModifyHook =
        @Sendable (
            _ change: YapDatabaseHookChange<Object>, _ transaction: YapDatabaseReadWriteTransaction
        ) throws -> Void
    /// Called with the name of a removed row.
    public typealias RemoveHook =
        @Sendable (_ row: YapCollectionKey, _ transaction: YapDatabaseReadWriteTransaction) throws -> Void
    /// Called when all rows of all collections are removed.
    public typealias RemoveAllHook = @Sendable (_ transaction: YapDatabaseReadWriteTransaction) throws -> Void

    /// Class name in the file, independent of the type of the objects.
    public static var className: String { "YapDatabaseHooks" }
    /// Version of the tables. There are none.
    public static var classVersion: Int { 1 }
    /// Its transactions read nothing.
    public static var notesReads: Bool { true }

    /// Name of the extension in transactions and in the file.
    public let name: String
    /// Collections with rows that call the hooks. Nil for all.
    public let collections: [String]?
    /// Empty, because nothing depends on the closures of another run.
    public var versionTag: String { "" }

    /// True if the collections must be registered with `Object`.
    let checksType: Bool
    let willModify, didModify: ModifyHook?
    let willRemove, didRemove: RemoveHook?
    let willRemoveAll, didRemoveAll: RemoveAllHook?

    private init(
        _ name: String, _ collections: [String]?, checksType: Bool, _ modify: (ModifyHook?, ModifyHook?),
        _ remove: (RemoveHook?, RemoveHook?), _ removeAll: (RemoveAllHook?, RemoveAllHook?)
    ) {
        (self.name, self.collections, self.checksType) = (name, collections, checksType)
        (willModify, didModify) = modify
        (willRemove, didRemove) = remove
        (willRemoveAll, didRemoveAll) = removeAll
    }

    /// Describes the hooks of one collection.
    ///
    /// - Parameters:
    ///   - name: Name of the extension in transactions and in the file.
    ///   - type: The registered type of the collection.
    ///   - collection: The collection.
    ///   - willModify: Called before a row is inserted, set or touched. It must neither insert nor remove that row.
    ///   - didModify: Called after a row was inserted, set or touched.
    ///   - willRemove: Called before a row is removed. The transaction can still read it.
    ///   - didRemove: Called after a row was removed.
    ///   - willRemoveAll: Called before `removeAllObjectsInAllCollections` removes all rows. `willRemove` and
    ///     `didRemove` aren't called for these.
    ///   - didRemoveAll: Called after that.
    public convenience init(
        _ name: String, of type: Object.Type, in collection: String, willModify: ModifyHook? = nil,
        didModify: ModifyHook? = nil, willRemove: RemoveHook? = nil, didRemove: RemoveHook? = nil,
        willRemoveAll: RemoveAllHook? = nil, didRemoveAll: RemoveAllHook? = nil
    ) {
        self.init(
            name, [collection], checksType: true, (willModify, didModify), (willRemove, didRemove),
            (willRemoveAll, didRemoveAll))
    }

    /// Creates the part of one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseHooksConnection<Object> {
        YapDatabaseHooksConnection(self)
    }
}

extension YapDatabaseHooks where Object == any Sendable {
    /// Describes hooks of several collections. Their objects may have different types.
    ///
    /// ```swift
    /// let audit = YapDatabaseHooks(
    ///     "audit", in: ["todos", "notes"], didRemove: { row, transaction in print("removed", row.key) })
    /// ```
    ///
    /// - Parameters:
    ///   - name: Name of the extension in transactions and in the file.
    ///   - collections: The collections. Nil for all.
    ///   - willModify: See the form for one collection, also for the other closures.
    ///   - didModify: Called after a row was inserted or changed.
    ///   - willRemove: Called before a row is removed.
    ///   - didRemove: Called after a row was removed.
    ///   - willRemoveAll: Called before all rows of the collections are removed.
    ///   - didRemoveAll: Called after all rows of the collections were removed.
    public convenience init(
        _ name: String, in collections: [String]?, willModify: ModifyHook? = nil,
        didModify: ModifyHook? = nil, willRemove: RemoveHook? = nil, didRemove: RemoveHook? = nil,
        willRemoveAll: RemoveAllHook? = nil, didRemoveAll: RemoveAllHook? = nil
    ) {
        self.init(
            name, collections, checksType: false, (willModify, didModify), (willRemove, didRemove),
            (willRemoveAll, didRemoveAll))
    }
}

/// Hooks of one SQLite handle. It keeps nothing.
public final class YapDatabaseHooksConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    private let hooks: YapDatabaseHooks<Object>

    init(_ hooks: YapDatabaseHooks<Object>) { self.hooks = hooks }

    /// Creates the part of a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseHooksTransaction<Object> {
        YapDatabaseHooksTransaction(hooks, transaction)
    }

    /// Does nothing, because nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Does nothing, because nothing is cached.
    public func dropCaches() {}
}

/// Hooks in one transaction. Apps don't need it.
public final class YapDatabaseHooksTransaction<Object: Sendable>: YapDatabaseExtensionTransaction, RowHooks {
    private let hooks: YapDatabaseHooks<Object>
    /// Retained until the transaction ends, which releases its extensions.
    private let transaction: YapDatabaseReadTransaction

    init(_ hooks: YapDatabaseHooks<Object>, _ transaction: YapDatabaseReadTransaction) {
        (self.hooks, self.transaction) = (hooks, transaction)
    }

    /// Requests no rows.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        if hooks.checksType {
            for collection in hooks.collections ?? [] {
                try transaction.checkTypes(Object.self, of: collection, for: hooks.name)
            }
        }
        return .isComplete
    }

    /// Returns a closure that does nothing, because there is no state to restore.
    public func makeRestorePoint() throws -> () -> Void { {} }

    func beforeChange(_ change: YapDatabaseRowChange, in transaction: YapDatabaseReadWriteTransaction) throws
    {
        try call(change, transaction, hooks.willModify, hooks.willRemove, hooks.willRemoveAll)
    }

    func afterChange(_ change: YapDatabaseRowChange, in transaction: YapDatabaseReadWriteTransaction) throws {
        try call(change, transaction, hooks.didModify, hooks.didRemove, hooks.didRemoveAll)
    }

    private func call(
        _ change: YapDatabaseRowChange, _ transaction: YapDatabaseReadWriteTransaction,
        _ modify: YapDatabaseHooks<Object>.ModifyHook?, _ remove: YapDatabaseHooks<Object>.RemoveHook?,
        _ removeAll: YapDatabaseHooks<Object>.RemoveAllHook?
    ) throws {
        switch change {
        case .remove(let rows):
            guard let remove else { return }
            for row in rows {
                try remove(YapCollectionKey(collection: row.collection, key: row.key), transaction)
            }
        case .removeAll: try removeAll?(transaction)
        default:
            guard let modify, let change = YapDatabaseHookChange<Object>(change, transaction) else { return }
            try modify(change, transaction)
        }
    }
}
