import CloudKit
import Foundation

// As an app of 2018 looks: operations, weak selves, halved batches, merges by hand.

protocol DiaryDelegate: class {
    func diary(_ diary: Diary, didMerge record: CKRecord)
}

final class Diary {
    static let recordType = "Entry"
    let database: CKDatabase
    let zone = CKRecordZone(zoneName: "Diary")
    weak var delegate: DiaryDelegate?
    private(set) var batches: [Int] = []

    init(container: CKContainer = .default()) {
        database = container.privateCloudDatabase
    }

    func entry(_ name: String, _ text: String) -> CKRecord {
        let record = CKRecord(
            recordType: Diary.recordType, recordID: CKRecord.ID(recordName: name, zoneID: zone.zoneID))
        record["text"] = text
        return record
    }

    func createZone(_ completion: @escaping (Error?) -> Void) {
        let operation = CKModifyRecordZonesOperation(recordZonesToSave: [zone], recordZoneIDsToDelete: nil)
        operation.modifyRecordZonesCompletionBlock = { _, _, error in completion(error) }
        database.add(operation)
    }

    func upload(_ records: [CKRecord], completion: @escaping (Error?) -> Void) {
        let operation = CKModifyRecordsOperation(recordsToSave: records, recordIDsToDelete: nil)
        let configuration = CKOperation.Configuration()
        configuration.qualityOfService = .userInitiated
        configuration.timeoutIntervalForRequest = 30
        operation.configuration = configuration
        operation.savePolicy = .ifServerRecordUnchanged
        batches.append(records.count)
        operation.modifyRecordsCompletionBlock = { [weak self] saved, _, error in
            guard let self = self else { return }
            guard let ckError = error as? CKError else { return completion(error) }
            switch ckError.code {
            case .limitExceeded:
                let half = records.count / 2
                self.upload(Array(records.prefix(half))) { error in
                    guard error == nil else { return completion(error) }
                    self.upload(Array(records.suffix(from: half)), completion: completion)
                }
            case .partialFailure:
                self.merge(records, ckError, completion)
            case .zoneNotFound, .userDeletedZone:
                self.createZone { error in
                    guard error == nil else { return completion(error) }
                    self.upload(records, completion: completion)
                }
            default:
                completion(ckError)
            }
        }
        database.add(operation)
    }

    /// Sends again what another device changed, merged, and what failed only for its neighbours.
    private func merge(_ records: [CKRecord], _ error: CKError, _ completion: @escaping (Error?) -> Void) {
        guard let failures = error.partialErrorsByItemID as? [CKRecord.ID: CKError] else {
            return completion(error)
        }
        if failures.values.contains(where: { $0.code == .zoneNotFound }) {
            return createZone { [weak self] problem in
                problem == nil ? self?.upload(records, completion: completion) : completion(problem)
            }
        }
        var again: [CKRecord] = []
        for record in records {
            guard let failure = failures[record.recordID] else { continue }
            if failure.code == .batchRequestFailed { again.append(record) }
            guard failure.code == .serverRecordChanged, let server = failure.serverRecord,
                let client = failure.clientRecord
            else { continue }
            let ancestor = failure.ancestorRecord?["text"] as? String ?? ""
            let (theirs, ours) = (server["text"] as? String ?? "", client["text"] as? String ?? "")
            server["text"] = theirs == ancestor ? ours : theirs + "\n" + ours
            delegate?.diary(self, didMerge: server)
            again.append(server)
        }
        again.isEmpty ? completion(error) : upload(again, completion: completion)
    }
}
