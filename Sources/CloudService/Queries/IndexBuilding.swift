import CloudStore
import System

/// Builds the indexes that a schema declares. The state of pending work is kept in memory: after a start,
/// work is assumed to be pending.
package final class IndexBuilding: Sendable {
    /// Maximum entries in one step.
    private static let indexedEntriesMax = 5_000

    /// Maximum entries written by a schema change. The upkeep builds the indexes of the remaining types.
    private static let entriesOfChangeMax = 50_000
    /// Maximum rows that a schema change writes: entries, and pending work of each type.
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

    /// Notes that work may be pending, because another process may have added some.
    func note() { mayBeMore.withLock { $0 = true } }

    /// The index work of a schema change, in the transaction that makes the change.
    ///
    /// Small work is done at once, so that a new field can be queried immediately. The upkeep does the rest.
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
            // A schema with very many changes must not block the writer.
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

    /// Does one step of the pending index work. Returns true if there may be more.
    ///
    /// Each step is a transaction that also stores its progress. After a crash, the work resumes there.
    func buildStep() throws -> Bool {
        guard mayWait else { return false }
        // Usually nothing is pending. A read finds that out without the writer.
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

    /// Processes the next records of a type, after those that are `done`.
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
            // An unreadable record can't be found by its fields.
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
