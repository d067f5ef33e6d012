internal import CloudKit
internal import CloudWire
internal import Yap

/// Turns fetched changes into rows.
extension CloudSyncMap {
    var zoneHandler: SyncZoneHandler {
        SyncZoneHandler(
            zoneIDs: zoneIDs,
            applyPage: { [self] transaction, ext, database, page in
                try apply(page, transaction, ext, database)
            },
            storePending: { [self] transaction, collection, key, waiting in
                try storePending(waiting, transaction, collection, key)
            },
            applyRecord: { [self] transaction, ext, database, record in
                try ext.zones.noteFetchedRows()
                try apply(record, nil, transaction, ext, database)
                try ext.tables.noteKnown(record.recordID, database)
            },
            collectionsWithNewFields: { [self] previous, former in
                collectionsWithNewFields(since: previous, former)
            },
            applyWanted: { [self] transaction, ext, database, wanted, records in
                try ext.zones.noteFetchedRows()
                try applyWanted(wanted, records, transaction, ext, database)
            },
            fileHandling: { [self] recordID, recordType, key, _ in handling(recordID, recordType, key) },
            takeFiles: { [self] record, folder in try takeFiles(of: record, into: folder) },
            storeFields: { [self] fields, transaction, collection, key in
                try model(forCollection: collection)?.store(transaction, key, fields)
            })
    }

    /// Stores pending values again in a row that another version of the app wrote without them, because it didn't know
    /// the field or couldn't read its value.
    private func storePending(
        _ waiting: [String: Field], _ transaction: YapDatabaseReadWriteTransaction, _ collection: String,
        _ key: String
    ) throws {
        guard let model = model(forCollection: collection),
            let object = try transaction.object(forKey: key, inCollection: collection)
        else { return }
        let names = Set(model.fieldNames)
        let (local, defaults) = (try model.fields(object), try model.defaults())
        let lacking = waiting.filter { name, field in
            names.contains(name) && (local[name] ?? .cleared).isAbsent(defaults[name])
                && !(local[name] ?? .cleared).says(field) && model.canRead(name, field)
        }
        if !lacking.isEmpty { try model.store(transaction, key, lacking) }
    }

    /// Applies a page and stores its token in one transaction. After a crash the page is either stored completely or
    /// fetched again.
    private func apply(
        _ page: SyncPage, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws {
        try ext.zones.noteFetchedRows()
        try ext.zones.setMoreComing(page.moreComing, page.zoneID, database)
        let fullFetch = try ext.tables.tokens.fullFetch(page.zoneID, database)
        var count = try ext.zones.beginCount(page, database)
        defer { ext.zones.partOfNew = nil }
        for recordID in page.deleted {
            try ext.zones.countDeletion(recordID, database, &count)
            try ext.tables.stash.removeFromStash(recordID, database)
            for row in try ext.tables.records.records(recordID, database) {
                try delete(row, transaction, ext)
            }
        }
        for record in page.changed {
            if fullFetch != nil { try ext.tables.records.markSeen(record.recordID, database) }
            ext.zones.partOfNew = count.sum == nil ? nil : record.checksum
            let isNew = try apply(record, fullFetch, transaction, ext, database)
            try ext.zones.count(record, isNew: isNew, database, &count)
        }
        try ext.tables.tokens.setToken(page.token?.storedText, page.zoneID, database)
        try ext.zones.endCount(count, page, database)
        guard !page.moreComing else { return }
        try ext.zones.finishFullFetch(page.zoneID, database) { row, reason in
            switch reason {
            case .expired, .upgrade: try delete(row, transaction, ext)
            case .reset where row.ownerCount > 0: try ext.results.recreate(row, rule: .serverWasReset)
            case .reset: _ = try ext.tracker.forget(row, rule: .serverWasReset)
            case .newFields: break
            }
        }
        guard ext.zones.comparison != nil else { return }
        ext.zones.comparison?.changedRows = try verifyRows(in: page.zoneID, transaction, ext, database)
    }

    /// Handles a record that the server deleted. A pending edit creates it again; without one the rows are removed too.
    private func delete(
        _ row: RecordRow, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        if try ext.tracker.outlivesDeletion(row) { return }
        if row.ownerCount > 0 {
            let defaults = try model(of: row.base())?.defaults() ?? [:]
            if try ext.tables.queue.changes(of: row.id).contains(where: { $0.isEdit(defaults: defaults) }) {
                return try ext.results.recreate(row, rule: .editBeatDeletion)
            }
        }
        for name in try ext.tracker.forget(row, rule: .deletedRemotely) {
            try transaction.removeObject(forKey: name.key, inCollection: name.collection)
        }
    }

    /// Applies the server's version of a record: an echo of this device's change, a change to merge, a new record, or
    /// one that was deleted here.
    ///
    /// - Parameter fullFetch: The reason of a full fetch; nil during other fetches.
    /// - Returns: Whether it was attached as a new record.
    @discardableResult
    func apply(
        _ record: CKRecord, _ fullFetch: FullFetchReason?, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws -> Bool {
        guard let model = model(of: record) else {
            try ext.tables.stash.stash(record, database)
            return false
        }
        let fields = try record.allFields()
        if hasUnreadFields(record, fields, model) {
            try ext.tables.tokens.noteUnreadFields(of: record.recordID, database)
        }
        let incarnations = try ext.tables.records.records(record.recordID, database)
        let deleted = try ext.tables.queue.incarnationToDelete(incarnations)
        let live = incarnations.last { $0.ownerCount > 0 }
        if let deleted, let live {
            guard deleted.id != live.id else { return false }
            // A restored server shows older versions, which aren't edits of another device.
            let isOlder =
                try fullFetch == .reset && deleted.changeTag != nil && ext.merges.isBehind(record, deleted)
            let isForeign =
                try !isOlder && deleted.changeTag != record.recordChangeTag
                && !ext.merges.isOwnEcho(record, of: deleted, names: model.fieldNames)
            guard isForeign else {
                // Deleted and created again here: both changes are still to be sent, in this order.
                if fullFetch != nil { try ext.merges.dropOutdatedValues(of: deleted, against: record) }
                try ext.merges.setTag(of: deleted, from: record)
                return false
            }
            try ext.merges.giveUpDeletion(
                of: deleted, incarnations, for: live, record, names: model.fieldNames)
            try ext.merges.merge(record, into: live, transaction)
            return false
        }
        if let live {
            let isKnown = live.changeTag == record.recordChangeTag
            if isKnown {
                // A field that is new here is known only now, although the version is the same.
                guard fullFetch != nil else { return false }
            } else if fullFetch == .reset, live.changeTag != nil {
                if try ext.merges.isBehind(record, live) {
                    try ext.merges.queueLastValues(of: live, against: record, model)
                } else {
                    try ext.merges.logLostValues(of: live, against: record, model)
                }
            }
            try ext.merges.merge(record, into: live, isKnown: isKnown, transaction)
            return false
        }
        if let deleted {
            guard deleted.changeTag != record.recordChangeTag else {
                if fullFetch != nil { try ext.merges.dropOutdatedValues(of: deleted, against: record) }
                return false
            }
            let isReset = fullFetch == .reset
            if try ext.merges.isOwnEcho(record, of: deleted, names: model.fieldNames, isReset: isReset) {
                try ext.merges.setTag(of: deleted, from: record)
                return false
            }
            // A record that was created and deleted again here has several pending deletions. If one stayed in the
            // queue, the edit that won would be deleted after all.
            try ext.merges.removeDeletions(of: incarnations)
        }
        return try insert(record, fields, incarnations, model, transaction, ext, database)
    }

    /// - Returns: Whether it was attached as a new record.
    private func insert(
        _ record: CKRecord, _ fields: [String: Field], _ incarnations: [RecordRow], _ model: CloudSyncModel,
        _ transaction: YapDatabaseReadWriteTransaction, _ ext: YapDatabaseCloudKitTransaction,
        _ database: DatabaseKey
    ) throws -> Bool {
        let key = RecordNames.key(forName: record.recordID.recordName)
        let rowID = try transaction.rowID(forKey: key, inCollection: model.collection)
        if incarnations.isEmpty, rowID == nil {
            // The record is unknown, as most records of a first fetch are: no more queries are needed.
            try ext.tracker.attachNew(record, database, forKey: key, inCollection: model.collection)
            try model.insert(transaction, key, fields)
            return true
        }
        // Edits may be pending although no row belongs to the record: it was detached, or its user came back.
        let waiting =
            try ext.tables.records.records(record.recordID, database).last
            .map { try ext.tables.queue.changes(of: $0.id).filter { $0.kind == .save } } ?? []
        // A row that the app has detached from its record is attached again. Storing it now is no local change.
        if let rowID { ext.handled.rowsInMerge.insert(rowID) }
        defer { if let rowID { ext.handled.rowsInMerge.remove(rowID) } }
        let isAttached = try ext.tracker.attach(
            record, database, forKey: key, inCollection: model.collection, isUploaded: false)
        // The row belongs to another user and stayed here. It isn't overwritten, and this record is stashed.
        guard isAttached else {
            try ext.tables.stash.stash(record, database)
            return false
        }
        let edited = waiting.reduce(into: fields) { fields, change in
            fields.merge(change.fields) { _, edited in edited }
        }
        try model.store(transaction, key, edited)
        guard !waiting.isEmpty, var live = try ext.tables.records.liveRecord(record.recordID, database) else {
            return false
        }
        // The pending changes are based on the version that was known before, not on this one.
        live.changeTag = incarnations.last?.changeTag
        try ext.merges.merge(record, into: live, transaction)
        return false
    }
}

extension CloudSyncMap {
    /// Whether a record is stashed with a type that the app knows now.
    func hasStash(_ ext: YapDatabaseCloudKitTransaction) throws -> Bool {
        try models.contains { try !ext.tables.stash.stashed(ofType: $0.recordType).isEmpty }
    }

    /// Creates rows for stashed records that came before the app knew their type.
    func deliverStash(
        _ transaction: YapDatabaseReadWriteTransaction, _ ext: YapDatabaseCloudKitTransaction
    ) throws {
        try ext.zones.noteFetchedRows()
        for model in models {
            for stashed in try ext.tables.stash.stashed(ofType: model.recordType) {
                try ext.tables.stash.removeFromStash(stashed.record.recordID, stashed.database)
                ext.setPaths(of: stashed.record, except: Set(model.files.keys))
                guard stashed.record.recordChangeTag != nil else {
                    try bringBack(stashed.record, model, transaction, ext, stashed.database)
                    continue
                }
                let recordID = stashed.record.recordID
                try apply(stashed.record, nil, transaction, ext, stashed.database)
                try ext.tables.noteKnown(recordID, stashed.database)
            }
        }
    }

    /// Creates the row of a stashed record that a restored server hasn't shown since. It is uploaded as a new record.
    /// If anything else is known of the record, that is newer.
    private func bringBack(
        _ record: CKRecord, _ model: CloudSyncModel, _ transaction: YapDatabaseReadWriteTransaction,
        _ ext: YapDatabaseCloudKitTransaction, _ database: DatabaseKey
    ) throws {
        guard try ext.tables.records.records(record.recordID, database).isEmpty else { return }
        _ = try insert(record, try record.allFields(), [], model, transaction, ext, database)
        guard let live = try ext.tables.records.liveRecord(record.recordID, database) else { return }
        try ext.results.recreate(live, rule: .serverWasReset)
    }
}

/// What fetched versions mean for records that changed here.
extension RemoteMerge {
    /// Stores the server's tag and nothing else.
    func setTag(of row: RecordRow, from record: CKRecord) throws {
        var row = row
        if row.changeTag != record.recordChangeTag { try tables.queue.renameWrites(of: row) }
        row.changeTag = record.recordChangeTag
        row.system = try record.systemBytes()
        try tables.records.updateRecord(row)
    }

    /// Whether all values of a record that was deleted here come from this device: each field has the value of the
    /// deleted row, or a value that a change sets or replaces which is pending, or which may have arrived without an
    /// answer.
    ///
    /// - Parameter names: The fields of the app's version. Other fields count only if a change sets them.
    /// - Parameter isReset: Whether the server was restored. Another device may have created an equal record there
    ///   again.
    func isOwnEcho(
        _ record: CKRecord, of row: RecordRow, names: [String], isReset: Bool = false
    ) throws -> Bool {
        let remote = try record.allFields()
        let changes = try rowValues.restoredChanges(of: row)
        guard let deletion = changes.last(where: { $0.kind == .delete }),
            try isReset || tracker.mayHaveArrived(row)
        else { return false }
        // A later version of the app may have queued fields that this one doesn't know.
        let waiting = changes.filter { $0.kind == .save }.flatMap(\.keys).filter { !names.contains($0) }
        return (names + waiting).allSatisfy { name in
            let there = remote[name] ?? .cleared
            if there.says(deletion.fields[name] ?? .cleared) { return true }
            return changes.contains { change in
                change.kind == .save
                    && (change.fields[name].map { there.says($0) } ?? false
                        || change.originals[name].map { there.says($0) } ?? false)
            }
        }
    }

    /// Drops pending values of fields in which the version of a full fetch differs from the value that was changed
    /// here. An upgrade queues a row's values of a new field, and the server may have another device's value of it.
    func dropOutdatedValues(of deleted: RecordRow, against record: CKRecord) throws {
        let remote = try record.allFields()
        let waiting = try tables.queue.changes(of: deleted.id).filter { $0.kind == .save }
        let originals = try originals(of: waiting, remote: remote)
        let newest = waiting.reduce(into: [:]) { $0.merge($1.fields) { _, later in later } }
        let current = newest.filter { name, _ in
            guard let original = originals[name], let there = remote[name], there.value != nil else {
                return true
            }
            return original.says(there)
        }
        guard current.count < newest.count else { return }
        try rewriteQueue(of: deleted, waiting, updated: current, remote: remote)
    }

    /// Drops pending deletions, because another device's edit won.
    func removeDeletions(of incarnations: [RecordRow]) throws {
        for incarnation in incarnations {
            log.note(incarnation, nil, .deletionDropped, dropped: nil, kept: nil)
            _ = try tracker.forget(incarnation, rule: .remoteWon)
        }
    }

    /// Handles another device's edit of a record that was deleted and created again here: the edit wins over the
    /// pending deletions, and the new record counts as a change of the deleted one.
    ///
    /// - Parameters:
    ///   - incarnations: All incarnations of the record. The deleted ones are removed.
    ///   - live: The incarnation that has rows.
    ///   - record: The other device's version.
    func giveUpDeletion(
        of deleted: RecordRow, _ incarnations: [RecordRow], for live: RecordRow, _ record: CKRecord,
        names: [String]
    ) throws {
        let changes = try tables.queue.changes(of: deleted.id)
        let deletion = changes.first { $0.kind == .delete }
        // The deleted record may have edits that were never sent: the server had the values before them.
        let saves = changes.filter { $0.kind == .save }
        let before = (deletion?.fields ?? [:])
            .merging(deletion?.originals ?? [:]) { _, original in original }
            .merging(try originals(of: saves, remote: try record.allFields())) { _, original in original }
        try removeDeletions(of: incarnations.filter { $0.id != live.id })
        // If all records were deleted at once, the record's values are unknown.
        guard deletion?.fields.isEmpty == false,
            var first = try tables.queue.changes(of: live.id).first(where: { $0.kind == .save })
        else { return }
        for name in names {
            let was = before[name] ?? .cleared
            // Fields that the new object doesn't have were removed.
            if first.fields[name] == nil, first.restore[name] == nil, was.value != nil {
                first.fields[name] = .cleared
            }
            if first.originals[name] == nil { first.originals[name] = was }
        }
        try tables.queue.updateChange(first)
    }

    /// Logs the values of this device that the server may have lost: it was restored to an older version, and another
    /// device has changed the record since. It isn't known which fields that device changed.
    func logLostValues(of row: RecordRow, against record: CKRecord, _ model: CloudSyncModel) throws {
        guard let owner = try handled.identities(of: row).first,
            let full = try handled.fullFields(owner, row, object: nil, metadata: nil)?.fields
        else { return }
        let (remote, waiting) = (
            try record.allFields(), Set(try tables.queue.changes(of: row.id).flatMap(\.keys))
        )
        for (name, field) in full.sorted(by: { $0.key < $1.key }) where !waiting.contains(name) {
            let there = remote[name] ?? .cleared
            guard !field.says(there), model.canRead(name, there) else { continue }
            log.note(row, name, .serverWasReset, kind: .lost, dropped: field, kept: there)
        }
    }

    /// Whether a restored server may have lost the version of a row that has a tag: by the server's clock its record
    /// was not changed since.
    func isBehind(_ record: CKRecord, _ row: RecordRow) throws -> Bool {
        guard let known = try row.base().modificationDate, let there = record.modificationDate else {
            return true
        }
        return there <= known
    }

    /// Queues this device's values as changes, because the server was restored to an older version.
    func queueLastValues(of row: RecordRow, against record: CKRecord, _ model: CloudSyncModel) throws {
        guard let owner = try handled.identities(of: row).first,
            let full = try handled.fullFields(owner, row, object: nil, metadata: nil)?.fields
        else { return }
        let remote = try record.allFields()
        // Values that this version can't read come from a newer version. The row never had them, so it has nothing to
        // replace them with.
        var different = full.filter { name, field in
            let there = remote[name] ?? .cleared
            return !field.says(there) && model.canRead(name, there)
        }
        // A file that isn't on this device can't be sent, so the server's value stays.
        for (name, field) in different.sorted(by: { $0.key < $1.key }) where tables.files.lacks(field) {
            log.note(row, name, .serverWasReset, kind: .lost, dropped: field, kept: remote[name])
            different[name] = nil
        }
        for (key, _) in different.sorted(by: { $0.key < $1.key }) {
            log.note(row, key, .serverWasReset, dropped: remote[key], kept: full[key])
        }
        try recorder.queueSave(
            row, different, originals: different.reduce(into: [:]) { $0[$1.key] = remote[$1.key] ?? .cleared }
        )
    }
}

extension Field {
    /// Whether an object has only the values of a new one.
    func isAbsent(_ byDefault: Field?) -> Bool {
        value == nil || (byDefault.map(says) ?? false)
    }
}
