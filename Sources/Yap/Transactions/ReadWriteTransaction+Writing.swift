/// Writing a row: encode, notify extensions, execute SQL, update memory, notify extensions.
extension YapDatabaseReadWriteTransaction {
    struct WrittenRow {
        let name: YapCollectionKey
        let object: CachedValue
        let data: [UInt8]
        let metadata: (box: CachedValue, data: [UInt8])?
        /// Whether the row keeps properties that its type doesn't know.
        var keepsUnknown = true
    }

    func prepare(
        _ key: String, _ collection: String
    ) throws -> (StoreConnection.Collection, YapCollectionKey) {
        try check()
        return (try store.registered(collection), YapCollectionKey(collection: collection, key: key))
    }

    func identity(_ name: YapCollectionKey) throws -> YapDatabaseRowIdentity? {
        try rowID(forKey: name.key, inCollection: name.collection).map {
            YapDatabaseRowIdentity(rowID: $0, collection: name.collection, key: name.key)
        }
    }

    /// Inserts or updates a row. Without an extension that observes the row, one statement inserts a new row without
    /// a look-up. With extensions, the row is looked up first.
    func write(_ row: WrittenRow, _ registered: StoreConnection.Collection) throws {
        let name = row.name
        try propertyNames.note(row.data, registered)
        var known = registered.cache.entry(name.key)?.rowID
        let isHeard = store.isHeard(name.collection)
        if known == nil, isHeard { known = try rows.rowID(name.key, name.collection) }
        if let known { return try update(row, known, registered) }
        guard isHeard else {
            if let rowID = try rows.insert(
                name.key, name.collection, data: row.data, metadata: row.metadata?.data)
            {
                return try recordWrite(row, rowID, isInsert: true)
            }
            guard let rowID = try rows.rowID(name.key, name.collection) else {
                throw YapDatabaseError(
                    .corrupt, "a row is neither there nor can it be added", collection: name.collection,
                    key: name.key)
            }
            return try update(row, rowID, registered)
        }
        try insertTellingExtensions(row)
    }

    /// Inserts a row. `willChange` gets 0 as the rowid, because it is only known after the insert.
    private func insertTellingExtensions(_ row: WrittenRow) throws {
        let name = row.name
        let metadata = row.metadata?.box.erased
        var identity = YapDatabaseRowIdentity(rowID: 0, collection: name.collection, key: name.key)
        try callHooksBefore(.insert(identity, object: row.object.erased, metadata: metadata))
        try tell(.insert(identity, object: row.object.erased, metadata: metadata)) { try $0.willChange($1) }
        let rowID = try toldOf {
            if let rowID = try rows.insert(
                name.key, name.collection, data: row.data, metadata: row.metadata?.data)
            {
                return rowID
            }
            throw YapDatabaseError(
                .corrupt, "the index doesn't contain an existing row", collection: name.collection,
                key: name.key)
        }
        try recordWrite(row, rowID, isInsert: true)
        identity = YapDatabaseRowIdentity(rowID: rowID, collection: name.collection, key: name.key)
        try tell(.insert(identity, object: row.object.erased, metadata: metadata)) { try $0.didChange($1) }
        try callHooksAfter(.insert(identity, object: row.object.erased, metadata: metadata))
    }

    private func update(
        _ row: WrittenRow, _ rowID: Int64, _ registered: StoreConnection.Collection
    ) throws {
        let identity = YapDatabaseRowIdentity(
            rowID: rowID, collection: row.name.collection, key: row.name.key)
        let change = YapDatabaseRowChange.update(
            identity, object: row.object.erased, metadata: row.metadata?.box.erased)
        let data = row.keepsUnknown ? try propertyNames.keeping(rowID, in: row.data, registered) : row.data
        try perform(change) {
            try rows.update(rowID, data: data, metadata: row.metadata?.data)
            try recordWrite(row, rowID, isInsert: false)
        }
    }

    func replaceObject(of row: YapDatabaseRowIdentity, by box: CachedValue, _ data: [UInt8]) throws {
        try perform(.replaceObject(row, object: box.erased)) {
            try rows.updateObject(row.rowID, data: data)
            try record(
                RowChangeRecord(flags: .object, rowID: row.rowID, object: box),
                YapCollectionKey(collection: row.collection, key: row.key))
        }
    }

    func replaceMetadata(of row: YapDatabaseRowIdentity, by box: CachedValue?, _ data: [UInt8]?) throws {
        try perform(.replaceMetadata(row, metadata: box?.erased)) {
            try rows.updateMetadata(row.rowID, metadata: data)
            let cached = box.map { CachedMetadata.value($0) } ?? CachedMetadata.none
            try record(
                RowChangeRecord(flags: .metadata, rowID: row.rowID, metadata: cached),
                YapCollectionKey(collection: row.collection, key: row.key))
        }
    }

    private func recordWrite(_ row: WrittenRow, _ rowID: Int64, isInsert: Bool) throws {
        let flags: RowChangeRecord.Flags = isInsert ? [.inserted, .object, .metadata] : [.object, .metadata]
        let metadata = row.metadata.map { CachedMetadata.value($0.box) } ?? CachedMetadata.none
        if isInsert { mutations.mutated(row.name.collection) }
        try record(
            RowChangeRecord(flags: flags, rowID: rowID, object: row.object, metadata: metadata), row.name)
    }

    /// Notifies the extensions, performs the change, and notifies them again.
    func perform(_ change: YapDatabaseRowChange, _ body: () throws -> Void) throws {
        let isHeard = change.collection.map { store.isHeard($0) } ?? !store.extensions.isEmpty
        guard isHeard else { return try body() }
        try callHooksBefore(change)
        try tell(change) { try $0.willChange($1) }
        try toldOf(body)
        try tell(change) { try $0.didChange($1) }
        try callHooksAfter(change)
    }

    /// Notifies each extension of the parts of a change that it observes.
    private func tell(
        _ change: YapDatabaseRowChange,
        _ body: (any YapDatabaseExtensionTransaction, YapDatabaseRowChange) throws -> Void
    ) throws {
        writeCount += 1
        try toldOf {
            for use in try uses() {
                if let heard = use.entry.heard(change) { try body(use.transaction, heard) }
            }
        }
    }

    /// Runs the part of a change after the extensions were notified or the change was logged for extensions
    /// that miss it. If it throws, they have half of the change, so the transaction must fail even if the app
    /// catches the error.
    func toldOf<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if failure == nil { failure = error }
            throw error
        }
    }

    /// Records a change for this commit, and updates the writer's own cache.
    func record(_ change: RowChangeRecord, _ name: YapCollectionKey) throws {
        try toldOf { try store.missedChangeLog.note(change.rowID, name) }
        recordedCount += 1
        store.collection(name.collection)?.cache.apply(change, key: name.key)
        changes.record(
            change, key: name.key, collection: name.collection, keysMax: store.changedKeysPerCommitMax)
    }
}
