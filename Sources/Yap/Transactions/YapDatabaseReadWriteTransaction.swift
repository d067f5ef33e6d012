/// A transaction that reads and writes, for as long as the closure of `readWrite` runs.
///
/// When the closure returns, everything is committed at once. When it throws, or `rollback()` was called, or
/// the commit fails, nothing of it is kept, on disk or in memory. It can be used wherever a read transaction
/// is asked for.
public final class YapDatabaseReadWriteTransaction: YapDatabaseReadTransaction {
    var changes = CommitChanges()
    /// The extensions from this transaction on, when it registers or unregisters one.
    var registry: [RegisteredExtension]?
    /// How many changes of rows were recorded.
    var recordedCount = 0
    /// How often the extensions were told of something.
    var writeCount = 0
    /// How many calls of hooks are under way, each in a write of the one before.
    var hookDepth = 0
    /// Whether it registers extensions or hands them rows, and runs none of the app's writes.
    var isHandingRows = false
    /// How many of SQLite's changes were undone by savepoints.
    var undoneCount = 0
    private(set) var isRolledBack = false
    /// Whether it stores rows that were fetched from elsewhere, and the rows to which they belong may come later. A
    /// savepoint that fails leaves it.
    package var mayLackRows = false
    /// Whether what is wrong with a single row is passed over: what was fetched comes again and again until it is
    /// stored, and what was missed is handed over until it is handled.
    var passesOverMistakes: Bool { mayLackRows || passesOverMissed }
    /// Whether it hands over rows that extensions missed, or does what follows from them. Not while all rows are handed
    /// to a new extension: who registers it hears of a mistake.
    var passesOverMissed = false
    /// By collection: whether stored objects may have properties that its type doesn't know.
    var mayHaveUnknown: [String: Bool] = [:]
    /// By collection: the noted names of properties, as `setStoredBytes` read and added to them.
    var storedNames: [String: Set<String>] = [:]
    /// What the app attached; nil without anything.
    var attachments: TransactionAttachments?

    /// Discards everything that the transaction writes, before and after this call. The closure runs on to
    /// its end, and `readWrite` returns what it returns.
    public func rollback() {
        isRolledBack = true
    }

    // MARK: Setting

    /// Stores the object, whether there is a row of this name or not. An existing row's metadata is cleared.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration`, `typeMismatch`, `encoding`, `diskFull`, ...
    public func setObject<Object: Sendable>(
        _ object: Object, forKey key: String, inCollection collection: String
    ) throws {
        let (registered, name) = try prepare(key, collection)
        let coder = registered.registration.object
        let box = try sanitized(object, coder, name)
        let row = WrittenRow(name: name, object: box, data: try encoded(box, coder, name), metadata: nil)
        try write(row, registered)
        coder.postSanitize(box, name)
    }

    /// Stores object and metadata, whether there is a row of this name or not; `nil` clears the metadata. Throws as the
    /// form without metadata.
    public func setObject<Object: Sendable, Metadata: Sendable>(
        _ object: Object, metadata: Metadata?, forKey key: String, inCollection collection: String
    ) throws {
        guard let metadata else { return try setObject(object, forKey: key, inCollection: collection) }
        let (registered, name) = try prepare(key, collection)
        let coder = registered.registration.object
        let metadataCoder = try metadataCoder(registered)
        let box = try sanitized(object, coder, name)
        let metadataBox = try sanitized(metadata, metadataCoder, name)
        let bytes = try encoded(metadataBox, metadataCoder, name)
        let row = WrittenRow(
            name: name, object: box, data: try encoded(box, coder, name), metadata: (metadataBox, bytes))
        try write(row, registered)
        coder.postSanitize(box, name)
        metadataCoder.postSanitize(metadataBox, name)
    }

    // MARK: Replacing

    /// Stores the object of an existing row and leaves its metadata. Does nothing when there is no such row.
    ///
    /// - Returns: Whether there is such a row.
    /// - Throws: As `setObject`.
    @discardableResult
    public func replaceObject<Object: Sendable>(
        _ object: Object, forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let coder = registered.registration.object
        let box = try sanitized(object, coder, name)
        let encoded = try encoded(box, coder, name)
        try noteNames(encoded, registered)
        let data = try keeping(identity.rowID, in: encoded, registered)
        try replaceObject(of: identity, by: box, data)
        coder.postSanitize(box, name)
        return true
    }

    /// Stores the metadata of an existing row and leaves its object; `nil` clears it. Does nothing when there
    /// is no row.
    ///
    /// - Returns: Whether there is such a row.
    /// - Throws: As `setObject`.
    @discardableResult
    public func replaceMetadata<Metadata: Sendable>(
        _ metadata: Metadata?, forKey key: String, inCollection collection: String
    ) throws -> Bool {
        let (registered, name) = try prepare(key, collection)
        guard let identity = try identity(name) else { return false }
        let coder = try metadataCoder(registered)
        let box = try metadata.map { try sanitized($0, coder, name) }
        let data = try box.map { try encoded($0, coder, name) }
        try replaceMetadata(of: identity, by: box, data)
        if let box { coder.postSanitize(box, name) }
        return true
    }

    // MARK: Touching

    /// Tells extensions and observers to treat the object as changed. The row stays as it is.
    public func touchObject(forKey key: String, inCollection collection: String) throws {
        try touch(key, collection, .touchedObject) { .touchObject($0) }
    }

    /// Tells extensions and observers to treat the metadata as changed. The row stays as it is.
    public func touchMetadata(forKey key: String, inCollection collection: String) throws {
        try touch(key, collection, .touchedMetadata) { .touchMetadata($0) }
    }

    /// Tells extensions and observers to treat object and metadata as changed. The row stays as it is.
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
