internal import CloudKit
import Foundation
internal import System
internal import Yap

/// The files of what the cloud answers, taken before a transaction begins: copying them is no work for the writer.
extension SyncRunner {
    /// Where the files of the database are; nil once the database was closed.
    var fileFolder: FileFolder? {
        let (database, name) = state.withLock { ($0.database, $0.registeredName) }
        return database.map {
            FileFolder(
                CloudFilePaths(database: $0.path, registeredName: name), files: environment.assetFiles,
                random: environment.random)
        }
    }

    /// Brings the files of fetched records into their folder.
    /// - Returns: False if that failed; then the engine was notified.
    func takeFiles(of records: [CKRecord], _ task: SyncTask) -> Bool {
        guard let zoneHandler, let folder = fileFolder else { return true }
        let start = state.withLock { $0.starts }
        do {
            for record in records { try zoneHandler.takeFiles(record, folder) }
            return true
        } catch {
            localFailure(task, error, start: start)
            return false
        }
    }

    /// Completes the conflicts of a reply: the server's records come without their files, and are fetched with them. If
    /// that fails, the error of the fetch takes the conflict's place.
    func withFiles(
        _ reply: SendReply, _ database: CKDatabase, _ user: String?, _ task: SyncTask,
        _ completion: @escaping @Sendable (SendReply) -> Void
    ) {
        guard let zoneHandler else { return completion(reply) }
        let lacking = reply.serverRecords.filter(\.lacksFiles).map(\.recordID)
        guard !lacking.isEmpty else {
            if takeFiles(of: reply.serverRecords, task) { completion(reply) }
            return
        }
        let operation = CKFetchRecordsOperation.fetching(lacking, files: zoneHandler.fileHandling) {
            results in
            let results = results.mapValues { result in
                // Deleted meanwhile: the next save is answered with that.
                result.mapError { $0.code == .unknownItem ? CKError(.batchRequestFailed) : $0 }
            }
            let complete = reply.completed(by: results)
            if self.takeFiles(of: complete.serverRecords, task) { completion(complete) }
        }
        run(operation, on: database, as: user, task)
    }
}

extension SendReply {
    /// The records that the server has in place of those that were sent.
    fileprivate var serverRecords: [CKRecord] { failed.compactMap(\.error.serverRecord) }

    /// The reply with the server's records as they were fetched.
    fileprivate func completed(by results: [CKRecord.ID: Result<CKRecord, CKError>]) -> SendReply {
        var reply = self
        for (index, (item, outcome)) in items.enumerated() {
            guard case .failed(let error) = outcome, error.serverRecord != nil,
                let result = results[item.recordID]
            else { continue }
            switch result {
            case .failure(let error): reply.items[index].outcome = .failed(error)
            case .success(let record):
                var userInfo = error.userInfo
                userInfo[CKRecordChangedErrorServerRecordKey] = record
                reply.items[index].outcome = .failed(CKError(error.code, userInfo: userInfo))
            }
        }
        return reply
    }
}
