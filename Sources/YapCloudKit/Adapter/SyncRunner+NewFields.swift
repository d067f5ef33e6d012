internal import CloudKit
internal import System
internal import Yap

/// The fetch of records that have fields which the version of the app before left out.
extension SyncRunner {
    /// Maximum number of records in one request: what servers take.
    static let wantedRecordsMax = 200

    /// Fetches wanted records of a zone. If they are too many for the server, it fetches fewer.
    func fetch(
        _ wanted: [CKRecord.ID], _ zoneID: CKRecordZone.ID, _ handler: SyncZoneHandler,
        _ database: CKDatabase,
        _ user: String?, _ task: SyncTask
    ) {
        let operation = CKFetchRecordsOperation.fetching(wanted, files: handler.fileHandling) { results in
            do throws(CKError) {
                self.apply(try results.found(), of: wanted, zoneID, handler, task)
            } catch let error where error.code == .limitExceeded && wanted.count > 1 {
                let fewer = Array(wanted.prefix(wanted.count / 2))
                self.fetch(fewer, zoneID, handler, database, user, task)
            } catch {
                self.post(.fetchFailed(task.key, zoneID, error), attempt: task.attempt)
            }
        }
        run(operation, on: database, as: user, task)
    }

    private func apply(
        _ records: [CKRecord], of wanted: [CKRecord.ID], _ zoneID: CKRecordZone.ID,
        _ handler: SyncZoneHandler,
        _ task: SyncTask
    ) {
        guard state.withLock({ $0.operations[task.attempt] != nil }) else { return }
        guard takeFiles(of: records, task) else { return }
        let written = write(task) { transaction, ext in
            // Another user may be here now, or everything may be fetched by now.
            guard try task.key.account == ext.currentAccount(),
                try ext.tables.fullFetch(zoneID, task.key) == .newFields
            else { return }
            try handler.applyWanted(transaction, ext, task.key, wanted, records)
            try ext.endFetchOfNewFields(zoneID, task.key)
        }
        guard let count = written?.count else { return }
        state.withLock { $0.exchangedCount += records.count }
        post(.pageApplied(task.key, zoneID, moreComing: true, count), attempt: task.attempt)
    }
}

extension [CKRecord.ID: Result<CKRecord, CKError>] {
    /// The records that exist.
    /// - Throws: The error of one that couldn't be fetched.
    fileprivate func found() throws(CKError) -> [CKRecord] {
        var records: [CKRecord] = []
        for (_, result) in sorted(by: { $0.key.recordName < $1.key.recordName }) {
            switch result {
            case .success(let record): records.append(record)
            case .failure(let error) where error.code == .unknownItem: continue
            case .failure(let error): throw error
            }
        }
        return records
    }
}
