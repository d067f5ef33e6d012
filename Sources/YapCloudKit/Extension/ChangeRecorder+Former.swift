internal import CloudKit
internal import CloudWire
internal import Yap

/// Rows that this transaction removed. If one of them is created again with the same record, the server never deletes
/// the record. So fields that the new row lacks must be cleared there.
extension ChangeRecorder {
    /// A removed row: its content, or the names of its record's fields and whether each is encrypted.
    enum FormerRow {
        case row(YapDatabaseRowIdentity, object: any Sendable, metadata: (any Sendable)?)
        case keys([String: Bool])
        /// A save that the deletion removed from the change-set. The server has the values from before it.
        case unsent(ChangeRow, known: [String: Field])
    }

    /// Maximum number of objects that are kept. For further rows the handler is called at once, and the names of their
    /// records' fields are kept.
    static let formerObjectsMax = 1_000

    /// Keeps the content of a row that is about to be removed.
    func keepFormerRow(_ row: YapDatabaseRowIdentity, _ owner: RecordRow) throws {
        // An object that can't be read can still be removed.
        guard cloudKit.isAllowed(row.collection),
            let object = try? handled.transaction.object(forKey: row.key, inCollection: row.collection)
        else { return }
        var metadata: (any Sendable)?
        if cloudKit.recordHandler.needsMetadata,
            try handled.transaction.serializedMetadata(forKey: row.key, inCollection: row.collection) != nil
        {
            metadata = try handled.transaction.metadata(forKey: row.key, inCollection: row.collection)
        }
        if formerRows.count < Self.formerObjectsMax {
            formerRows[owner.id, default: []].append(.row(row, object: object, metadata: metadata))
        } else if let fields = try handled.fullFields(row, owner, object: object, metadata: metadata)?.fields
        {
            let keys = fields.filter { $0.value.value != nil }.mapValues(\.isEncrypted)
            formerRows[owner.id, default: []].append(.keys(keys))
        }
    }

    /// Returns the fields that a record had when its last row was removed in this transaction, as far as they are known
    /// from the removed rows.
    ///
    /// - Parameter fields: Fields that the deletion stored.
    func formerFields(
        of incarnation: RecordRow, _ fields: [String: Field]
    ) throws -> (originals: [String: Field], keys: [String: Bool]) {
        var originals = fields
        var keys = fields.filter { $0.value.value != nil }.mapValues(\.isEncrypted)
        var unsent: Set<String> = []
        for former in formerRows.removeValue(forKey: incarnation.id) ?? [] {
            switch former {
            case .keys(let more): keys.merge(more) { first, _ in first }
            case .row(let row, let object, let metadata):
                let held =
                    try handled.fullFields(row, incarnation, object: object, metadata: metadata)?.fields
                    ?? [:]
                originals.merge(held) { first, _ in first }
                keys.merge(held.filter { $0.value.value != nil }.mapValues(\.isEncrypted)) { first, _ in first
                }
            case .unsent(let change, let known):
                // The earliest of several changes has the server's value as its original.
                for key in change.keys where unsent.insert(key).inserted {
                    originals[key] = change.originals[key]
                    let field = change.originals[key] ?? change.fields[key] ?? known[key]
                    keys[key] = keys[key] ?? field?.isEncrypted ?? false
                }
            }
        }
        return (originals, keys)
    }
}
