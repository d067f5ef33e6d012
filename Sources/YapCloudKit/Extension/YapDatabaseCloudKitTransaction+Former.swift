internal import CloudKit
internal import CloudWire
internal import Yap

/// Rows that this transaction removed. One of them may be made again under the same record: on the server it was never
/// gone then, and the values that the new row lacks have to be ended there.
extension YapDatabaseCloudKitTransaction {
    /// A removed row: what it held, or the names of the values that its record had, and whether they are encrypted.
    enum FormerRow {
        case row(YapDatabaseRowIdentity, object: any Sendable, metadata: (any Sendable)?)
        case keys([String: Bool])
    }

    /// The most objects that are kept; of further rows the handler is asked at once what their records had.
    static let formerObjectsMax = 1_000

    /// Keeps what a row holds that is about to be removed.
    func keepFormerRow(_ row: YapDatabaseRowIdentity, _ owner: RecordRow) throws {
        // An object that can't be read can be removed all the same.
        guard owner.ownerCount == 1, cloudKit.isAllowed(row.collection),
            let object = try? transaction.object(forKey: row.key, inCollection: row.collection)
        else { return }
        var metadata: (any Sendable)?
        if cloudKit.recordHandler.needsMetadata,
            try transaction.serializedMetadata(forKey: row.key, inCollection: row.collection) != nil
        {
            metadata = try transaction.metadata(forKey: row.key, inCollection: row.collection)
        }
        if formerRows.count < Self.formerObjectsMax {
            formerRows[owner.id] = .row(row, object: object, metadata: metadata)
        } else if let fields = try fullFields(row, owner, object: object, metadata: metadata)?.fields {
            formerRows[owner.id] = .keys(fields.filter { $0.value.value != nil }.mapValues(\.isEncrypted))
        }
    }

    /// What a record had when its last row was removed in this transaction, as far as that is known.
    ///
    /// - Parameter fields: What the deletion says of it.
    func formerFields(
        of life: RecordRow, _ fields: [String: Field]
    ) throws -> (originals: [String: Field], keys: [String: Bool]) {
        var originals = fields
        switch formerRows.removeValue(forKey: life.id) {
        case .keys(let keys): return (fields, keys)
        case .row(let row, let object, let metadata):
            originals = try fullFields(row, life, object: object, metadata: metadata)?.fields ?? [:]
        case nil: break
        }
        return (originals, originals.filter { $0.value.value != nil }.mapValues(\.isEncrypted))
    }
}
