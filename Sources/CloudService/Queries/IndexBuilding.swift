import CloudStore
import System

/// Builds the indexes that a schema asks for. Whether something is left to do is known as far as this process goes: at
/// its start, there may be.
package final class IndexBuilding: Sendable {
    /// Entries after which a step ends.
    private static let indexedEntriesMax = 5_000

    /// Entries after which a change of the schema leaves all further types to the upkeep.
    private static let entriesOfChangeMax = 50_000
    /// Rows that a change of the schema writes at most: entries, and what is left to do on each type.
    package static let schemaChangeRowsMax =
        entriesOfChangeMax + 2 * indexedEntriesMax + SchemaLanguage.recordTypesMax

    private let store: any CloudStore
    private let schemas: Schemas
    private let limits: ServiceLimits
    private let mayBeMore = Lock(true)

    init(store: any CloudStore, schemas: Schemas, limits: ServiceLimits) {
        (self.store, self.schemas, self.limits) = (store, schemas, limits)
    }

    var mayWait: Bool { mayBeMore.withLock { $0 } }

    /// There may be something to do, as another process may have asked for.
    func note() { mayBeMore.withLock { $0 = true } }

    /// What a change of the schema leaves to do, in the transaction that makes it.
    ///
    /// What a few records need is done at once, so that a field that was just made can be asked for; the rest is done
    /// by the upkeep.
    func change(
        from old: Schema, to new: Schema, written: [RecordIndexRow], _ writer: any CloudStoreWriter
    ) throws {
        let done = Set(written.map(\.key))
        var entriesCount = 0
        for recordType in Set(old.recordTypes.keys).union(new.recordTypes.keys).sorted() {
            let (before, after) = (old.recordTypes[recordType], new.recordTypes[recordType])
            guard before != after else { continue }
            var wanted = StoreLoad()
            wanted.indexWorkOf = [recordType]
            let left = try writer.load(wanted).indexWork[recordType].map { try IndexWork($0) }
            guard let work = IndexWork(recordType, from: before, to: after, left: left) else { continue }
            // A schema with very many changes must not hold up the writer.
            var changes = StoreChanges()
            if entriesCount < Self.entriesOfChangeMax {
                changes = try nextStep(of: work, new, writer, done: done)
                entriesCount += changes.indexes.reduce(0) { $0 + $1.entries.count }
            } else {
                changes.indexWork = [work.row]
                note()
            }
            if left != nil || !changes.indexes.isEmpty
                || changes.indexWork.contains(where: { !$0.content.isEmpty })
            {
                try writer.apply(changes)
            }
        }
    }

    /// One step of the work that is left on indexes; true when there may be more.
    ///
    /// Each step is a transaction of its own, which also says how far it has come: after a crash it goes on there.
    func buildStep() throws -> Bool {
        guard mayWait else { return false }
        // Most of the time there is nothing: a read finds that out without the writer.
        if try store.read({ try $0.indexWork(typesMax: 1) }).isEmpty {
            mayBeMore.withLock { $0 = false }
            return false
        }
        try store.write { writer in
            guard let row = try writer.indexWork(typesMax: 1).first else { return }
            try writer.apply(
                try self.nextStep(of: try IndexWork(row), try self.schemas.schema(in: writer), writer))
        }
        return true
    }

    /// What the next records of a type get; those that are `done` have it.
    private func nextStep(
        of work: IndexWork, _ schema: Schema, _ writer: any CloudStoreWriter, done: Set<RecordKey> = []
    ) throws -> StoreChanges {
        let page = try writer.records(
            ofType: work.recordType, after: work.position, recordsMax: limits.querySearch.indexedRecordsMax,
            bytesMax: UpkeepStep.recordBytesMax)
        var changes = StoreChanges()
        var usage = UsageDeltas()
        var work = work
        var entriesCount = 0
        var moreComing = page.moreComing
        for row in page.rows {
            guard entriesCount < min(Self.indexedEntriesMax, limits.indexEntriesOfRequestMax) else {
                moreComing = true
                break
            }
            work.position = row.key
            guard !row.isDeleted, !done.contains(row.key) else { continue }
            // A record that can't be read can't be found by what is in it.
            let subject = (try? QuerySubject(row: row)) ?? QuerySubject(row: row, fields: [:])
            let entries = IndexEntries.row(subject, schema)
            changes.indexes.append(entries)
            usage.index(entries, of: row)
            entriesCount += entries.entries.count
        }
        var wanted = StoreLoad()
        wanted.zones = usage.zones.keys.filter { !$0.isDefault }.sorted()
        changes.zones =
            try wanted.zones.isEmpty ? [] : writer.load(wanted).zones.values.sorted { $0.key < $1.key }
        try usage.count(into: &changes, writer)
        changes.indexWork = [moreComing ? work.row : IndexWork.done(work.recordType)]
        if moreComing { note() }
        return changes
    }
}
