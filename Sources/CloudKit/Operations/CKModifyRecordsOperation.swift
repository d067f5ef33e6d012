import Foundation
internal import System

/// Saves and deletes records.
///
/// A saved record gets the server's tag and times. Its changes are then those made after the operation began.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// How a save treats a record that has changed on the server.
    public enum RecordSavePolicy: Int, Sendable {
        /// Saves the changed fields if the server's record still has the client's version.
        case ifServerRecordUnchanged = 0
        /// Saves the changed fields, regardless of the server's version.
        case changedKeys = 1
        /// Saves all fields, regardless of the server's version. Fields that only the server has stay.
        case allKeys = 2
    }

    /// The records to save. Maximum 400 items together with the deletions.
    public var recordsToSave: [CKRecord]?
    /// The records to delete; deleting one that doesn't exist succeeds.
    public var recordIDsToDelete: [CKRecord.ID]?
    /// How a save treats a record that has changed on the server.
    public var savePolicy: RecordSavePolicy = .ifServerRecordUnchanged
    /// True to save all records of a zone or none. The default zone is never atomic.
    public var isAtomic = true
    /// Data that the next fetch of the zones' changes returns to this device if any part of the operation was executed.
    /// So an app finds out if a write was executed when its response was lost. Maximum 4,096 bytes; the server keeps
    /// them for a day. Not sent to Apple's web service, which has no key for it.
    public var clientChangeTokenData: Data?

    /// Called for each record with the uploaded fraction of its files, and with 1 after the server's response.
    @preconcurrency public var perRecordProgressBlock: (@Sendable (CKRecord, Double) -> Void)?
    /// Called for each record of `recordsToSave`.
    @preconcurrency public var perRecordSaveBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called for each record of `recordIDsToDelete`.
    @preconcurrency public var perRecordDeleteBlock:
        (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
    /// Called last. A failed item doesn't fail the operation.
    @preconcurrency public var modifyRecordsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `perRecordSaveBlock`; not called if that is set.
    @available(*, deprecated, renamed: "perRecordSaveBlock")
    @preconcurrency public var perRecordCompletionBlock: (@Sendable (CKRecord, (any Error)?) -> Void)?
    {
        get { olderPerRecordCompletionBlock }
        set { olderPerRecordCompletionBlock = newValue }
    }
    var olderPerRecordCompletionBlock: (@Sendable (CKRecord, (any Error)?) -> Void)?
    /// The older form of `modifyRecordsResultBlock`; not called if that is set. Gets `CKError.partialFailure` if items
    /// have failed.
    @available(*, deprecated, renamed: "modifyRecordsResultBlock")
    @preconcurrency public var modifyRecordsCompletionBlock:
        (@Sendable ([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?
    {
        get { olderModifyRecordsCompletionBlock }
        set { olderModifyRecordsCompletionBlock = newValue }
    }
    var olderModifyRecordsCompletionBlock: (@Sendable ([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that saves `recordsToSave` and deletes `recordIDsToDelete`.
    public convenience init(recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil) {
        self.init()
        self.recordsToSave = recordsToSave
        self.recordIDsToDelete = recordIDsToDelete
    }

    /// Shared by the blocks of one run.
    private struct Outcome {
        var saved: [CKRecord] = []
        var deleted: [CKRecord.ID] = []
        var errors: [AnyHashable: any Error] = [:]
    }

    override func execute() {
        let records = recordsToSave ?? []
        let states = records.map(\.state)
        let deletions = recordIDsToDelete ?? []
        let policy = savePolicy
        let isAtomic = isAtomic
        let clientChangeToken = clientChangeTokenData
        // The first of two records with one ID. Such a request is rejected before anything is saved.
        let sent = Dictionary(zip(states.map(\.recordID), zip(records, states))) { first, _ in first }
        let outcome = Lock(Outcome())
        run { address in
            UserResolvingExchange(
                namesUser: states.contains(where: \.namesUser) || deletions.contains(where: \.namesUser),
                address: address
            ) { address in
                UploadingExchange(
                    saving: states, deleting: deletions, policy: policy, isAtomic: isAtomic,
                    clientChangeToken: clientChangeToken, address: address)
            }
        } event: { event in
            switch event {
            case .saved(let recordID, let result):
                guard let (record, state) = sent[recordID] else { return }
                self.report(record, sent: state, result, to: outcome)
            case .deleted(let recordID, let result):
                outcome.withLock { outcome in
                    switch result {
                    case .success: outcome.deleted.append(recordID)
                    case .failure(let error): outcome.errors[recordID] = error
                    }
                }
                self.perRecordDeleteBlock?(recordID, result.mapError { $0 })
            }
        } progress: { progress in
            guard let (record, _) = sent[progress.recordID] else { return }
            self.perRecordProgressBlock?(record, progress.end)
        } completion: { result in
            self.report(result, outcome.withLock { $0 })
        }
    }

    private func report(
        _ record: CKRecord, sent: RecordState, _ result: Result<RecordState, CKError>,
        to outcome: Lock<Outcome>
    ) {
        switch result {
        case .success(let saved):
            // The previous values are released after the lock.
            _ = record.withState { state in
                let before = state
                state.wasSaved(as: saved, sent: sent)
                return before
            }
            outcome.withLock { $0.saved.append(record) }
        case .failure(let error):
            outcome.withLock { $0.errors[record.recordID] = error }
        }
        perRecordProgressBlock?(record, 1)
        if let perRecordSaveBlock {
            perRecordSaveBlock(record.recordID, result.map { _ in record }.mapError { $0 })
        } else {
            olderPerRecordCompletionBlock?(record, result.error)
        }
    }

    private func report(_ result: Result<Void, CKError>, _ outcome: Outcome) {
        if let modifyRecordsResultBlock { return modifyRecordsResultBlock(result.mapError { $0 }) }
        let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
        olderModifyRecordsCompletionBlock?(outcome.saved, outcome.deleted, error)
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perRecordProgressBlock.take(), perRecordSaveBlock.take(), perRecordDeleteBlock.take(),
            modifyRecordsResultBlock.take(), olderPerRecordCompletionBlock.take(),
            olderModifyRecordsCompletionBlock.take()
        )
    }
}
