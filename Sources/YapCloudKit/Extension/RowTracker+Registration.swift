internal import CloudKit
internal import CloudWire
internal import Yap

/// Handling of existing rows at a registration.
extension RowTracker {
    /// Calls the handler for every row, or for those of some collections.
    func populate(
        after previous: YapDatabaseExtensionRegistration? = nil, _ formerVersionTags: [String] = [],
        only some: Set<String>? = nil
    ) throws {
        queue.touch()
        let collections = try handled.transaction.allCollections().filter {
            cloudKit.isAllowed($0) && some?.contains($0) ?? true
        }
        for collection in collections {
            for row in Array(try handled.transaction.identities(inCollection: collection)) {
                let owner = try tables.records.record(ownedBy: row.rowID)
                if owner != nil { try rowValues.rememberValues(of: row, isAboutToChange: false) }
                try handle(
                    row, owner: owner, object: nil, metadata: nil, versionInfo: cloudKit.versionInfo,
                    previous: previous, formerVersionTags: formerVersionTags, nilDetachesOnly: true)
                if previous != nil, owner != nil { try storePendingValues(row) }
            }
        }
    }

    /// Stores pending values in their row, because the previous version of the app may have removed them. Does nothing
    /// if the queue doesn't store all values: then the row is their source.
    private func storePendingValues(_ row: YapDatabaseRowIdentity) throws {
        guard let zoneHandler = cloudKit.runner.zoneHandler, cloudKit.options.storage == .values,
            let transaction = handled.transaction as? YapDatabaseReadWriteTransaction,
            let owner = try tables.records.record(ownedBy: row.rowID)
        else { return }
        let waiting = try tables.queue.changes(of: owner.id).filter { $0.kind == .save }.reduce(into: [:]) {
            $0.merge($1.fields) { _, later in later }
        }
        guard !waiting.isEmpty else { return }
        try zones.noteFetchedRows()
        handled.rowsInMerge.insert(row.rowID)
        defer { handled.rowsInMerge.remove(row.rowID) }
        try zoneHandler.storePending(transaction, row.collection, row.key, waiting)
    }

    /// Queues the deletion of records with rows that were removed while the extension was not registered. Another row
    /// may have the rowid of a removed one.
    func forgetVanishedRows() throws {
        for (rowID, nameHash) in try tables.records.mappedRows() {
            let identity = try handled.transaction.identity(ofRowID: rowID)
            if let identity, nameHash == nil || nameHash == identity.nameHash { continue }
            if let owner = try tables.records.record(ownedBy: rowID) {
                try disown(rowID, owner, isDeleted: true, lastFields: [:])
            }
        }
    }
}
