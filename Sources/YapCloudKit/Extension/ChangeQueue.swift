internal import CloudWire
internal import System

/// The queue in one transaction: the change-sets of its commit, their order, and the values that only rows hold.
final class ChangeQueue {
    /// The change-set of a commit's changes in one database.
    struct OpenChangeSet {
        var sequence: Int64
        /// Smallest number that a change of this commit can have. If this commit is folded into the change-set, changes
        /// with smaller numbers are from earlier commits.
        var firstChange: Int64 = 0
    }

    private let cloudKit: YapDatabaseCloudKit
    private let tables: CloudKitTables
    private let staged: StagedFiles
    private let isWriting: Bool
    /// Change-sets of this commit.
    private(set) var openChangeSets: [DatabaseKey: OpenChangeSet] = [:]
    /// Values that only rows hold, as far as this transaction queued or restored them.
    private var values = RestoredValues()
    /// References between this commit's changes.
    var links = ChangeLinks()
    /// Records with changes that this transaction queued.
    private var queuedRecords: Set<Int64> = []
    /// Number of the newest change, once it was read.
    private var lastChange: Int64?
    /// Whether the transaction changed the queue.
    private(set) var isTouched = false

    /// - Parameter isWriting: Whether the transaction can write.
    init(_ cloudKit: YapDatabaseCloudKit, _ tables: CloudKitTables, _ staged: StagedFiles, isWriting: Bool) {
        self.cloudKit = cloudKit
        self.tables = tables
        self.staged = staged
        self.isWriting = isWriting
    }

    /// Notes that the transaction changes the queue.
    func touch() { isTouched = true }

    /// Returns true if all change-sets of the commit belong to the database.
    func changesOnly(_ database: DatabaseKey) -> Bool { openChangeSets.keys.allSatisfy { $0 == database } }

    /// Returns the change-set of this commit for a database.
    func changeSet(_ database: DatabaseKey) throws -> OpenChangeSet {
        if let open = openChangeSets[database] { return open }
        if cloudKit.options.foldsQueuedChanges, let sequence = try tables.queue.changeSetToFold(database) {
            try tables.queue.beginSeries(of: sequence)
            let open = OpenChangeSet(sequence: sequence, firstChange: try tables.queue.lastChange() + 1)
            openChangeSets[database] = open
            return open
        }
        return try newChangeSet(database)
    }

    /// Returns the change-set for a change of a record. One operation can't delete a record and create it again. So if
    /// the change-set of earlier commits has another incarnation of the record, a new change-set begins.
    func changeSet(for row: RecordRow) throws -> OpenChangeSet {
        let open = try changeSet(row.database)
        guard open.firstChange > 0, try tables.queue.hasChange(ofAnotherIncarnationOf: row, in: open.sequence)
        else {
            return open
        }
        return try newChangeSet(row.database)
    }

    private func newChangeSet(_ database: DatabaseKey) throws -> OpenChangeSet {
        if let full = openChangeSets[database] { try tables.queue.removeChangeSetIfEmpty(full.sequence) }
        let open = OpenChangeSet(
            sequence: try tables.queue.insertChangeSet(uuid: cloudKit.random.nextUUID(), database))
        openChangeSets[database] = open
        return open
    }

    /// Removes a change from the queue, and its change-set if that becomes empty.
    func remove(_ change: ChangeRow) throws {
        touch()
        try staged.noteChange(of: change)
        try tables.queue.removeChange(change)
        values.remove(change.id)
        if !openChangeSets.values.contains(where: { $0.sequence == change.sequence }) {
            try tables.queue.removeChangeSetIfEmpty(change.sequence)
        }
    }

    /// Change of a record in this commit's change-set, if there is one.
    func openChange(_ open: OpenChangeSet, _ row: RecordRow) throws -> ChangeRow? {
        // A new change-set of this commit has only changes of this transaction.
        if open.firstChange == 0, !queuedRecords.contains(row.id) { return nil }
        return try tables.queue.change(open.sequence, row.id)
    }

    /// Puts a save into a change-set, and merges it with the change of the record that the change-set has already.
    func save(_ saved: NewValues, in open: OpenChangeSet, _ row: RecordRow) throws {
        var new = saved
        guard let change = try openChange(open, row) else {
            return try insert(new, open.sequence, row)
        }
        if change.kind == .save {
            new.addOlder(change, try knownValues(of: change), mayBeOnServer: row.changeTag != nil)
        }
        if change.id < open.firstChange {
            // An earlier commit's change gets a new number, because its values may be cached under the old one.
            try tables.queue.removeChange(change)
            return try insert(new, open.sequence, row, ordinal: change.place)
        }
        var updated = change
        updated.kind = .save
        updated.fields = new.stored
        updated.restore = new.restore
        updated.originals = new.originals
        try tables.queue.updateChange(updated)
        values.remove(change.id)
        remember(new.held, of: change.id)
    }

    /// - Parameter ordinal: The place in the change-set; nil is the last.
    private func insert(
        _ new: NewValues, _ sequence: Int64, _ row: RecordRow, ordinal: Int64? = nil
    ) throws {
        queuedRecords.insert(row.id)
        let id = try tables.queue.insertChange(
            sequence, row.id, .save, fields: new.stored, originals: new.originals, restore: new.restore,
            ordinal: try ordinal ?? nextOrdinal())
        lastChange = id
        remember(new.held, of: id)
    }

    /// Puts a deletion into a change-set.
    func insertDeletion(
        _ open: OpenChangeSet, _ row: RecordRow, fields: [String: Field], originals: [String: Field]
    ) throws {
        queuedRecords.insert(row.id)
        lastChange = try tables.queue.insertChange(
            open.sequence, row.id, .delete, fields: fields, originals: originals, ordinal: try nextOrdinal())
    }

    /// Returns the place after all others, which is the number of the next change.
    private func nextOrdinal() throws -> Int64 {
        let last = try lastChange ?? tables.queue.lastChange()
        lastChange = last
        return last + 1
    }

    /// Cached values of a change that no table has.
    func known(_ change: Int64) -> [String: Field] {
        values[change] ?? cloudKit.restored.withLock { $0[change] } ?? [:]
    }

    /// Values of a change that only rows hold, as far as they are cached.
    func knownValues(of change: ChangeRow) throws -> [String: Field] {
        guard !change.restore.isEmpty else { return [:] }
        let known = known(change.id)
        return known.filter { change.restore[$0.key] != nil }
    }

    /// Caches values. The values of a write transaction are shared with later transactions after its commit.
    func remember(_ fields: [String: Field], of change: Int64) {
        if isWriting {
            values.add(fields, of: change)
        } else {
            cloudKit.restored.withLock { $0.add(fields, of: change) }
        }
    }

    /// Removes empty change-sets, and sorts the changes into an order that the server accepts.
    func close() throws {
        for database in openChangeSets.keys.sorted() {
            if let open = openChangeSets[database] {
                try tables.queue.removeChangeSetIfEmpty(open.sequence)
            }
        }
        openChangeSets = [:]
        for sequence in links.sequences { try tables.queue.sort(sequence, links) }
        links = ChangeLinks()
    }

    /// Passes the values that the commit queued without storing them to the extension's cache.
    func didCommit() {
        let queued = values.all
        guard !queued.isEmpty else { return }
        cloudKit.restored.withLock { for (change, fields) in queued { $0.add(fields, of: change) } }
    }

    func makeRestorePoint() -> () -> Void {
        let saved = (openChangeSets, values, links, queuedRecords, lastChange, isTouched)
        return { [self] in (openChangeSets, values, links, queuedRecords, lastChange, isTouched) = saved }
    }
}
