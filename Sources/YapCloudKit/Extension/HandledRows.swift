internal import CloudKit
internal import CloudWire
internal import Yap

/// Calls of the record handler, and the state of the app's rows that they need.
final class HandledRows {
    let cloudKit: YapDatabaseCloudKit
    let tables: CloudKitTables
    unowned let transaction: YapDatabaseReadTransaction
    /// Rows that the merge block is writing. Its writes aren't local changes.
    var rowsInMerge: Set<Int64> = []
    /// Objects before the current change.
    private(set) var previousObjects: [YapCollectionKey: any Sendable] = [:]
    /// Rows with an unreadable object before the current change.
    private(set) var unreadableRows: Set<Int64> = []

    init(
        _ cloudKit: YapDatabaseCloudKit, _ tables: CloudKitTables, _ transaction: YapDatabaseReadTransaction
    ) {
        self.cloudKit = cloudKit
        self.tables = tables
        self.transaction = transaction
    }

    /// Returns the transaction, if it can write.
    func writer() throws -> YapDatabaseReadWriteTransaction {
        guard let transaction = transaction as? YapDatabaseReadWriteTransaction else {
            throw YapDatabaseCloudKitError.readOnlyTransaction
        }
        return transaction
    }

    /// Runs `body` while the rows are written by a merge.
    func merging(_ rows: [YapDatabaseRowIdentity], _ body: () throws -> Void) rethrows {
        let before = rowsInMerge
        rowsInMerge.formUnion(rows.map(\.rowID))
        defer { rowsInMerge = before }
        try body()
    }

    /// Returns true if the record handler is called for such a change.
    func isHandled(
        _ row: YapDatabaseRowIdentity, _ kind: YapDatabaseCloudKitRecordHandler.Invocation
    ) -> Bool {
        cloudKit.isAllowed(row.collection) && !cloudKit.recordHandler.invocation.isDisjoint(with: kind)
    }

    /// Keeps the object of a row that is about to change.
    func keepPreviousObject(_ row: YapDatabaseRowIdentity) throws {
        guard cloudKit.isAllowed(row.collection), !rowsInMerge.contains(row.rowID) else { return }
        let name = YapCollectionKey(collection: row.collection, key: row.key)
        do {
            previousObjects[name] = try transaction.object(forKey: row.key, inCollection: row.collection)
        } catch let error as YapDatabaseError where error.isAboutTheObject {
            // An unreadable object can still be replaced or removed.
            unreadableRows.insert(row.rowID)
        }
    }

    /// Ends the current change.
    func endChange() {
        previousObjects = [:]
        unreadableRows = []
    }

    func call(
        _ record: inout CKRecord?, _ info: YDBCKRecordInfo, _ row: YapDatabaseRowIdentity,
        object: (any Sendable)?, metadata: (any Sendable)?
    ) throws {
        func loadedObject() throws -> any Sendable {
            if let object { return object }
            if let object = try transaction.object(forKey: row.key, inCollection: row.collection) {
                return object
            }
            throw YapDatabaseCloudKitError.damaged(
                "the row \"\(row.key)\" of \"\(row.collection)\" is not there")
        }
        func loadedMetadata() throws -> (any Sendable)? {
            if let metadata { return metadata }
            let bytes = try transaction.serializedMetadata(forKey: row.key, inCollection: row.collection)
            guard bytes != nil else { return nil }
            return try transaction.metadata(forKey: row.key, inCollection: row.collection)
        }
        switch cloudKit.recordHandler.block {
        case .key(let block): try block(transaction, &record, info, row.collection, row.key)
        case .object(let block):
            try block(transaction, &record, info, row.collection, row.key, try loadedObject())
        case .metadata(let block):
            try block(transaction, &record, info, row.collection, row.key, try loadedMetadata())
        case .row(let block):
            try block(
                transaction, &record, info, row.collection, row.key, try loadedObject(), try loadedMetadata())
        }
    }

    /// Returns all fields of a row's record, by calling the handler as for a new row.
    func fullFields(
        _ row: YapDatabaseRowIdentity, _ owner: RecordRow, object: (any Sendable)?, metadata: (any Sendable)?
    ) throws -> (fields: [String: Field], database: DatabaseKey)? {
        var record: CKRecord?
        let info = YDBCKRecordInfo(databaseIdentifier: owner.database.identifier)
        try call(&record, info, row, object: object, metadata: metadata)
        guard let record, record.recordID == owner.recordID else { return nil }
        return (
            try info.fields?.changed ?? record.changedFields(),
            DatabaseKey(info.databaseIdentifier, account: owner.database.account)
        )
    }

    func owner(_ key: String, _ collection: String) throws -> RecordRow? {
        guard let rowID = try transaction.rowID(forKey: key, inCollection: collection) else { return nil }
        return try tables.records.record(ownedBy: rowID)
    }

    func names(of row: RecordRow) throws -> [YapCollectionKey] {
        try identities(of: row).map { YapCollectionKey(collection: $0.collection, key: $0.key) }
    }

    func identities(of row: RecordRow) throws -> [YapDatabaseRowIdentity] {
        try tables.records.owners(of: row.id).compactMap { try transaction.identity(ofRowID: $0) }
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (rowsInMerge, previousObjects, unreadableRows)
        return { [self] in (rowsInMerge, previousObjects, unreadableRows) = saved }
    }
}
