/// Closures of the app that run inside each transaction that writes, before and after a row changes.
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
/// They run for each write of this process, also those of `CloudSync`, and not for the rows that exist when they are
/// registered. Nothing of them is stored: a program that doesn't register them writes without them.
///
/// A hook that throws fails the whole transaction. A hook may read and write with the transaction that it gets. What it
/// writes calls the hooks again, up to 16 levels deep; beyond that the transaction fails with `extensionsDoNotSettle`.
/// Other extensions have followed all earlier writes when a hook runs. Hooks that are registered under several names
/// run in the order of registration.
public final class YapDatabaseHooks<Object: Sendable>: YapDatabaseNamedExtension {
    /// Called with a change of a row.
    public typealias ModifyHook =
        @Sendable (
            _ change: YapDatabaseHookChange<Object>, _ transaction: YapDatabaseReadWriteTransaction
        ) throws -> Void
    /// Called with the name of a row that is removed.
    public typealias RemoveHook =
        @Sendable (_ row: YapCollectionKey, _ transaction: YapDatabaseReadWriteTransaction) throws -> Void
    /// Called when all rows of all collections are removed.
    public typealias RemoveAllHook = @Sendable (_ transaction: YapDatabaseReadWriteTransaction) throws -> Void

    /// The class's name in the file, whatever the type of the objects.
    public static var className: String { "YapDatabaseHooks" }
    /// The version of the tables, of which there are none.
    public static var classVersion: Int { 1 }
    /// Its transactions read nothing.
    public static var notesReads: Bool { true }

    /// Name of the hooks in transactions and in the file.
    public let name: String
    /// The collections whose rows call the hooks; nil: all.
    public let collections: [String]?
    /// Empty: nothing depends on the closures of another run.
    public var versionTag: String { "" }

    /// Whether the collections must be registered with `Object`.
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
    ///   - name: Name of the hooks in transactions and in the file.
    ///   - type: The type that the collection is registered with.
    ///   - collection: The collection.
    ///   - willModify: Called before a row is inserted, set or touched. It must neither insert nor remove that row.
    ///   - didModify: Called after a row was inserted, set or touched.
    ///   - willRemove: Called before a row is removed: the transaction still reads it.
    ///   - didRemove: Called after a row was removed.
    ///   - willRemoveAll: Called before all rows of all collections are removed by `removeAllObjectsInAllCollections`.
    ///     `willRemove` and `didRemove` aren't called for these.
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

    /// The hooks at one SQLite handle.
    public func makeConnection(registeredName: String) -> YapDatabaseHooksConnection<Object> {
        YapDatabaseHooksConnection(self)
    }
}

extension YapDatabaseHooks where Object == any Sendable {
    /// Describes hooks of several collections, whose objects may be of different types.
    ///
    /// ```swift
    /// let audit = YapDatabaseHooks("audit", in: ["todos", "notes"], didRemove: { row, transaction in ... })
    /// ```
    ///
    /// - Parameters:
    ///   - name: Name of the hooks in transactions and in the file.
    ///   - collections: The collections; nil: all.
    ///   - willModify: As for one collection, and so are the others.
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

/// Hooks at one SQLite handle. It keeps nothing.
public final class YapDatabaseHooksConnection<Object: Sendable>: YapDatabaseExtensionConnection {
    private let hooks: YapDatabaseHooks<Object>

    init(_ hooks: YapDatabaseHooks<Object>) { self.hooks = hooks }

    /// The hooks in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseHooksTransaction<Object> {
        YapDatabaseHooksTransaction(hooks, transaction)
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}

/// Hooks in one transaction. An app doesn't need it.
public final class YapDatabaseHooksTransaction<Object: Sendable>: YapDatabaseExtensionTransaction, RowHooks {
    private let hooks: YapDatabaseHooks<Object>
    /// Held until the transaction ends, which releases its extensions.
    private let transaction: YapDatabaseReadTransaction

    init(_ hooks: YapDatabaseHooks<Object>, _ transaction: YapDatabaseReadTransaction) {
        (self.hooks, self.transaction) = (hooks, transaction)
    }

    /// Needs no rows.
    public func register(previous: YapDatabaseExtensionRegistration?) throws -> YapDatabaseExtensionContent {
        if hooks.checksType {
            for collection in hooks.collections ?? [] {
                try transaction.checkTypes(Object.self, of: collection, for: hooks.name)
            }
        }
        return .isComplete
    }

    /// Nothing is kept.
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
