internal import CloudKit
internal import CloudWire
internal import Yap

/// The rows and records that a version of the app with more fields must read again.
extension CloudSyncMap {
    /// Returns the collections with fields that the previous version didn't have, if this version only adds fields and
    /// collections, and no earlier version on this device had one of them. Returns nil for any other change: then rows
    /// may have values of these fields that were synced before, and everything is fetched again.
    func collectionsWithNewFields(since previous: String, _ formerVersionTags: [String]) -> Set<String>? {
        guard keepsFields(of: previous) else { return nil }
        var collections: Set<String> = []
        for model in models {
            let names = Set(Self.newFieldNames(of: model, since: previous))
            guard !names.isEmpty else { continue }
            for former in formerVersionTags {
                guard names.isSubset(of: Self.newFieldNames(of: model, since: former)) else { return nil }
            }
            collections.insert(model.collection)
        }
        return collections
    }

    /// Returns true if this version has all models and fields of a version tag.
    private func keepsFields(of versionTag: String) -> Bool {
        let kept = models.compactMap { model -> String? in
            let new = Set(Self.newFieldNames(of: model, since: versionTag))
            let names = model.fieldNames.filter { !new.contains($0) }
            return names.isEmpty ? nil : Self.tag(of: model, names)
        }
        return kept.sorted().joined(separator: ";") == versionTag
    }

    /// Returns true if a fetched record has fields that this version of the app doesn't store.
    func hasUnreadFields(_ record: CKRecord, _ fields: [String: Field], _ model: CloudSyncModel) -> Bool {
        !record.allKeys().allSatisfy { model.fieldNames.contains($0) }
            || !fields.allSatisfy { model.canRead($0.key, $0.value) }
    }

    /// Applies records that were fetched for their unread fields. Missing records were deleted, which the zone's
    /// changes report.
    ///
    /// - Parameter wanted: The records that were requested.
    func applyWanted(
        _ wanted: [CKRecord.ID], _ records: [CKRecord], _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws {
        for recordID in wanted { try ext.tables.tokens.forgetUnreadFields(of: recordID, database) }
        for record in records {
            try apply(record, .newFields, transaction, ext, database)
            try ext.tables.noteKnown(record.recordID, database)
        }
    }
}
