import CloudStore
import CloudWire
import System

/// A record as an earlier write created it.
struct MadeRecord {
    let changeTag: ChangeTag
    let created: StoreStamp
    let modified: StoreStamp
}

extension RecordsEndpoints {
    /// Returns the new records of a batch that an earlier write of its series created, and that were deleted since.
    ///
    /// After merging a neighbour, a client sends the rest of a write without a response under another
    /// operation id. Without this, a record that the first write created and another device deleted would be
    /// created again.
    func recordsMadeBefore(
        _ batch: ModifyBatch, _ operation: OperationID?, _ loaded: StoreLoaded, _ reader: any CloudStoreReader
    ) throws -> [RecordKey: MadeRecord] {
        guard let series = operation?.series else { return [:] }
        let deleted = batch.operations.compactMap { operation -> StoredRecord? in
            guard operation.kind == .create, let key = try? operation.target.get() else { return nil }
            return loaded.records[key].flatMap { $0.isDeleted ? $0 : nil }
        }
        guard !deleted.isEmpty else { return [:] }
        var wanted = StoreLoad()
        wanted.answerSeries = AnswerSeries(
            beginning: series, sinceMilliseconds: clock.nowMilliseconds() - limits.answerMilliseconds,
            rowsMax: KeptRecordsForm.seriesAnswersMax, bytesMax: KeptRecordsForm.seriesBytesMax)
        var left = Dictionary(deleted.map { ($0.key.recordName, $0) }) { first, _ in first }
        var found: [RecordKey: MadeRecord] = [:]
        let newestFirst = try reader.load(wanted).answers.values.sorted {
            ($1.atMilliseconds, $0.key) < ($0.atMilliseconds, $1.key)
        }
        for answer in newestFirst {
            guard !left.isEmpty else { break }
            for (name, made) in KeptRecordsForm.madeRecords(in: answer.answer, named: Set(left.keys)) {
                // The epoch is the zone's. A recreated zone with the same name has another one.
                guard let tombstone = left[name], made.changeTag.epoch == tombstone.tagEpoch,
                    made.changeTag.counter < tombstone.counter
                else { continue }
                found[tombstone.key] = made
                left[name] = nil
            }
        }
        return found
    }
}

extension MadeRecord {
    /// Returns the row that the record had then.
    func row(of draft: RecordDraft, key: RecordKey) -> StoredRecord {
        StoredRecord(
            key: key, recordType: draft.recordType, tagEpoch: changeTag.epoch, counter: changeTag.counter,
            parent: draft.parent, created: created, modified: modified,
            fields: draft.fieldBytes)
    }
}
