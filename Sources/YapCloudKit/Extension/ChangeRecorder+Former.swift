internal import CloudKit
internal import CloudWire
internal import Yap

/// Rows that this transaction removed. One of them may be made again under the same record: on the server it was never
/// gone then, and the values that the new row lacks have to be ended there.
extension ChangeRecorder {
    /// A removed row: what it held, or the names of the values that its record had, and whether they are encrypted.
    enum FormerRow {
        case row(YapDatabaseRowIdentity, object: any Sendable, metadata: (any Sendable)?)
        case keys([String: Bool])
        /// A save that the deletion took out of the change-set: the server has the values from before it.
        case unsent(ChangeRow, known: [String: Field])
    }

    /// The most objects that are kept; of further rows the handler is asked at once what their records had.
    static let formerObjectsMax = 1_000

    /// Keeps what a row holds that is about to be removed.
    func keepFormerRow(_ row: YapDatabaseRowIdentity, _ owner: RecordRow) throws {
        // An object that can't be read can be removed all the same.
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

    /// What a record had when its last row was removed in this transaction, as far as that is known: what all of its
    /// rows held that this transaction removed.
    ///
    /// - Parameter fields: What the deletion says of it.
    func formerFields(
        of life: RecordRow, _ fields: [String: Field]
    ) throws -> (originals: [String: Field], keys: [String: Bool]) {
        var originals = fields
        var keys = fields.filter { $0.value.value != nil }.mapValues(\.isEncrypted)
        var unsent: Set<String> = []
        for former in formerRows.removeValue(forKey: life.id) ?? [] {
            switch former {
            case .keys(let more): keys.merge(more) { first, _ in first }
            case .row(let row, let object, let metadata):
                let held =
                    try handled.fullFields(row, life, object: object, metadata: metadata)?.fields ?? [:]
                originals.merge(held) { first, _ in first }
                keys.merge(held.filter { $0.value.value != nil }.mapValues(\.isEncrypted)) { first, _ in first
                }
            case .unsent(let change, let known):
                // Of several the earliest is the one that was changed from what the server has.
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
