internal import CloudKit
import Foundation
internal import System
internal import Yap

/// The files of fetched records. They are taken before a transaction begins, because the writer must not wait for
/// copying.
extension SyncJob {
    /// Brings the files of fetched records into their folder.
    /// - Returns: False if that failed, and the engine was notified; also false after another start.
    func takeFiles(of records: [CKRecord]) -> Bool {
        guard let zoneHandler = runner.zoneHandler, let folder = runner.fileFolder else { return true }
        // Checked after the folder was read, which may be that of another database.
        guard session.start == sessionStart else { return false }
        do {
            for record in records { try zoneHandler.takeFiles(record, folder) }
            return true
        } catch {
            failed(error)
            return false
        }
    }

    /// Completes the conflicts of a reply: the server's records come without their files, and are fetched with them. If
    /// that fails, the error of the fetch replaces the conflict.
    func withFiles(
        _ reply: SendReply, _ cloud: CloudDatabase, _ completion: @escaping @Sendable (SendReply) -> Void
    ) {
        guard let zoneHandler = runner.zoneHandler else { return completion(reply) }
        let lacking = reply.serverRecords.filter(\.lacksFiles).map(\.recordID)
        guard !lacking.isEmpty else {
            if takeFiles(of: reply.serverRecords) { completion(reply) }
            return
        }
        let operation = CKFetchRecordsOperation.fetching(lacking, files: zoneHandler.fileHandling) {
            results in
            let results = results.mapValues { result in
                // The record was deleted meanwhile: the response to the next save reports that.
                result.mapError { $0.code == .unknownItem ? CKError(.batchRequestFailed) : $0 }
            }
            let complete = reply.completed(by: results)
            if takeFiles(of: complete.serverRecords) { completion(complete) }
        }
        start(operation, in: cloud)
    }
}

extension SyncRunner {
    /// The folder with the files of the database; nil once the database was released.
    var fileFolder: FileFolder? {
        session.location.map {
            FileFolder(
                CloudFilePaths(database: $0.path, registeredName: $0.registeredName),
                files: environment.assetFiles, random: environment.random)
        }
    }
}

extension SendReply {
    /// The records that the server has in place of those that were sent.
    fileprivate var serverRecords: [CKRecord] { failed.compactMap(\.error.serverRecord) }

    /// Returns the reply with the server's records as they were fetched.
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
