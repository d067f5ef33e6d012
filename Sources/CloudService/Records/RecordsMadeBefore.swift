import CloudStore
import CloudWire
import Seams

/// A record as an earlier write made it.
struct MadeRecord {
    let changeTag: ChangeTag
    let created: StoreStamp
    let modified: StoreStamp
}

extension CloudService {
    /// The new records of a batch that an earlier write of its series made, and that were deleted since then.
    ///
    /// A client which has learned something of a neighbour sends what is left of an unanswered write under another
    /// name. What that write made and another device deleted must not be made once more.
    func recordsMadeBefore(
        _ batch: ModifyBatch, _ operation: OperationID?, _ loaded: StoreLoaded, _ reader: any CloudStoreReader
    ) throws -> [RecordKey: MadeRecord] {
        guard let series = operation?.series else { return [:] }
        let deleted = batch.operations.compactMap { operation -> RecordRow? in
            guard operation.kind == .create, let key = try? operation.target.get() else { return nil }
            return loaded.records[key].flatMap { $0.isDeleted ? $0 : nil }
        }
        guard !deleted.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.answerSeries = [series]
        wanted.answerSeriesRowsMax = KeptRecordsForm.seriesAnswersMax
        wanted.answerSeriesBytesMax = KeptRecordsForm.seriesBytesMax
        let oldestMilliseconds = clock.nowMilliseconds() - limits.answerMilliseconds
        let answers = try reader.load(wanted).answers.values
            .filter { $0.atMilliseconds >= oldestMilliseconds }.sorted { $0.key < $1.key }
        let made = answers.map { KeptRecordsForm.madeRecords(in: $0.answer) }
        return deleted.reduce(into: [:]) { found, tombstone in
            found[tombstone.key] = made.lazy.compactMap { $0[tombstone.key.recordName] }.first {
                // The epoch is the zone's, of which there may be another of the same name.
                $0.changeTag.epoch == tombstone.tagEpoch && $0.changeTag.counter < tombstone.counter
            }
        }
    }
}

extension MadeRecord {
    /// The row that the record had then.
    func row(of draft: RecordDraft, key: RecordKey) -> RecordRow {
        RecordRow(
            key: key, recordType: draft.recordType, tagEpoch: changeTag.epoch, counter: changeTag.counter,
            parent: draft.parent, created: created, modified: modified,
            fields: draft.fieldBytes)
    }
}
