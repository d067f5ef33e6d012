/// A transaction that reads and writes, valid while the closure of `readWrite` runs.
///
/// When the closure returns, everything is committed at once. If it throws, `rollback()` was called, or the commit
/// fails, nothing of it is kept, on disk or in memory. It can be passed wherever a read transaction is expected.
///
/// ```swift
/// try await connection.readWrite { transaction in
///     try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
///     try transaction.removeObject(forKey: draftID, inCollection: "drafts")
/// }
/// ```
public final class YapDatabaseReadWriteTransaction: YapDatabaseReadTransaction {
    var changes = CommitChanges()
    /// Extensions from this transaction on, if it registers or unregisters one.
    var registry: [RegisteredExtension]?
    /// Number of recorded row changes.
    var recordedCount = 0
    /// Number of notifications to extensions.
    var writeCount = 0
    /// Number of nested hook calls, each in a write of the previous one.
    var hookDepth = 0
    /// True if the transaction registers extensions or passes rows to them. Then no write of the app runs in
    /// it.
    var isHandingRows = false
    /// Number of SQLite's changes that savepoints undid.
    var undoneCount = 0
    private(set) var isRolledBack = false
    /// True if the transaction stores fetched rows, and the rows that they belong to may arrive later. A savepoint
    /// that fails doesn't restore it.
    package var mayLackRows = false
    /// True if errors in single rows are ignored: fetched rows are fetched again until they are stored, and
    /// missed rows are passed to extensions until they are handled.
    var passesOverMistakes: Bool { mayLackRows || passesOverMissed }
    /// True while missed rows are passed to extensions, and while their effects are handled. False while all
    /// rows are passed to a new extension, because the caller of the registration receives the errors.
    var passesOverMissed = false
    /// Property names of the collections' types.
    private(set) lazy var propertyNames = PropertyNames(store)
    /// Attachments of the app, or nil if there are none.
    var attachments: TransactionAttachments?

    /// Discards everything that the transaction writes, before and after this call. The closure continues to its end,
    /// and `readWrite` returns its result.
    public func rollback() {
        isRolledBack = true
    }

    // MARK: Setting

    /// Stores the object, and inserts the row if it doesn't exist. Clears the metadata of an existing row.
    ///
    /// ```swift
    /// try transaction.setObject(todo, forKey: todo.id, inCollection: "todos")
    /// ```
    ///
    /// - Parameters:
    ///   - object: The object, of the type that is registered for the collection.
    ///   - key: The key of the row.
    ///   - collection: The collection of the row.
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`, `encoding`, `diskFull`, ...
    public func setObject<Object: Sendable>(
        _ object: Object, forKey key: String, inCollection collection: String
    ) throws {
        let (registered, name) = try prepare(key, collection)
        let coder = registered.registration.object
        let box = try coder.sanitized(object, name)
        let row = WrittenRow(name: name, object: box, data: try coder.encoded(box, name), metadata: nil)
        try write(row, registered)
        coder.postSanitize(box, name)
    }

    /// Stores object and metadata, and inserts the row if it doesn't exist. Nil clears the metadata. Throws the
    /// errors of the form without metadata.
    public func setObject<Object: Sendable, Metadata: Sendable>(
        _ object: Object, metadata: Metadata?, forKey key: String, inCollection collection: String
    ) throws {
        guard let metadata else { return try setObject(object, forKey: key, inCollection: collection) }
        let (registered, name) = try prepare(key, collection)
        let coder = registered.registration.object
        let metadataCoder = try metadataCoder(registered)
        let box = try coder.sanitized(object, name)
        let metadataBox = try metadataCoder.sanitized(metadata, name)
        let bytes = try metadataCoder.encoded(metadataBox, name)
        let row = WrittenRow(
            name: name, object: box, data: try coder.encoded(box, name), metadata: (metadataBox, bytes))
        try write(row, registered)
        coder.postSanitize(box, name)
        metadataCoder.postSanitize(metadataBox, name)
    }

    // MARK: Replacing

    /// Stores the object of an existing row, and keeps its metadata. Does nothing if the row doesn't exist.
    ///
    /// - Returns: True if the row exists.
    /// - Throws: The errors of `setObject`.
    @discardableResult
    public func replaceObject<Object: Sendable>(
        _ object: Object, forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let coder = registered.registration.object
        let box = try coder.sanitized(object, name)
        let encoded = try coder.encoded(box, name)
        try propertyNames.note(encoded, registered)
        let data = try propertyNames.keeping(identity.rowID, in: encoded, registered)
        try replaceObject(of: identity, by: box, data)
        coder.postSanitize(box, name)
        return true
    }

    /// Stores the metadata of an existing row, and keeps its object. Nil clears the metadata. Does nothing if the row
    /// doesn't exist.
    ///
    /// - Returns: True if the row exists.
    /// - Throws: The errors of `setObject`.
    @discardableResult
    public func replaceMetadata<Metadata: Sendable>(
        _ metadata: Metadata?, forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let coder = try metadataCoder(registered)
        let box = try metadata.map { try coder.sanitized($0, name) }
        let data = try box.map { try coder.encoded($0, name) }
        try replaceMetadata(of: identity, by: box, data)
        if let box { coder.postSanitize(box, name) }
        return true
    }

    // MARK: Touching

    /// Makes extensions and observers treat the object as changed. The row isn't changed.
    public func touchObject(forKey key: String, inCollection collection: String) throws {
        try touch(key, collection, .touchedObject) { .touchObject($0) }
    }

    /// Makes extensions and observers treat the metadata as changed. The row isn't changed.
    public func touchMetadata(forKey key: String, inCollection collection: String) throws {
        try touch(key, collection, .touchedMetadata) { .touchMetadata($0) }
    }

    /// Makes extensions and observers treat object and metadata as changed. The row isn't changed.
    public func touchRow(forKey key: String, inCollection collection: String) throws {
        try touch(key, collection, [.touchedObject, .touchedMetadata]) { .touchRow($0) }
    }

    private func touch(
        _ key: String, _ collection: String, _ flags: RowChangeRecord.Flags,
        _ change: (YapDatabaseRowIdentity) -> YapDatabaseRowChange
    ) throws {
        try check()
        let name = YapCollectionKey(collection: collection, key: key)
        guard let identity = try identity(name) else { return }
        try perform(change(identity)) {
            try record(RowChangeRecord(flags: flags, rowID: identity.rowID), name)
        }
    }
}
