internal import System

/// Fetches records by their IDs.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The records to fetch.
    public var recordIDs: [CKRecord.ID]?
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Called for each record with the downloaded fraction of its files, and with 1 before its result.
    @preconcurrency public var perRecordProgressBlock: (@Sendable (CKRecord.ID, Double) -> Void)?
    /// Called for each record.
    @preconcurrency public var perRecordResultBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// Called last. A failed record doesn't fail the operation.
    @preconcurrency public var fetchRecordsResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `perRecordResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "perRecordResultBlock")
    @preconcurrency public var perRecordCompletionBlock:
        (@Sendable (CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    {
        get { olderPerRecordCompletionBlock }
        set { olderPerRecordCompletionBlock = newValue }
    }
    var olderPerRecordCompletionBlock: (@Sendable (CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
    /// The older form of `fetchRecordsResultBlock`; not called if that is set. Gets `CKError.partialFailure` if records
    /// have failed.
    @available(*, deprecated, renamed: "fetchRecordsResultBlock")
    @preconcurrency public var fetchRecordsCompletionBlock:
        (@Sendable ([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?
    {
        get { olderFetchRecordsCompletionBlock }
        set { olderFetchRecordsCompletionBlock = newValue }
    }
    var olderFetchRecordsCompletionBlock: (@Sendable ([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the records with `recordIDs`.
    public convenience init(recordIDs: [CKRecord.ID]) {
        self.init()
        self.recordIDs = recordIDs
    }

    /// Makes an operation that fetches the record of the signed-in user. It always uses the public database.
    public class func fetchCurrentUserRecordOperation() -> CKFetchRecordsOperation {
        let operation = CKFetchRecordsOperation()
        operation.fetchesUser = true
        return operation
    }

    /// True to fetch the user's own record instead of `recordIDs`.
    var fetchesUser = false

    /// Decides how each file of the records is handled. Nil requires all files.
    package var assetHandling: AssetHandlingRule?

    /// The arguments of the older block.
    private struct Outcome {
        var records: [CKRecord.ID: CKRecord] = [:]
        var errors: [AnyHashable: any Error] = [:]

        mutating func take(_ result: Result<CKRecord, CKError>, of recordID: CKRecord.ID) {
            switch result {
            case .success(let record): records[recordID] = record
            case .failure(let error): errors[recordID] = error
            }
        }
    }

    override func execute() {
        let (recordIDs, desiredKeys) = (recordIDs ?? [], desiredKeys)
        let (fetchesUser, assetHandling) = (fetchesUser, assetHandling)
        let outcome = Lock(Outcome())
        let isOlder = fetchRecordsResultBlock == nil
        run { address in
            let address = fetchesUser ? address.ofUsers : address
            return UserResolvingExchange(
                namesUser: fetchesUser || recordIDs.contains(where: \.namesUser), address: address
            ) { address in
                let name = fetchesUser ? address.outgoingUserRecordName : nil
                let user = name.map { CKRecordID(recordName: $0) }
                return DownloadingExchange(
                    FetchRecordsExchange(
                        recordIDs: user.map { [$0] } ?? recordIDs, desiredKeys: desiredKeys, address: address),
                    address: address, handling: assetHandling)
            }
        } event: { fetched in
            let recordID = fetched.recordID
            let result = fetched.result.map { CKRecord(state: $0) }
            if isOlder { outcome.withLock { $0.take(result, of: recordID) } }
            self.perRecordProgressBlock?(recordID, 1)
            if let block = self.perRecordResultBlock {
                block(recordID, result.mapError { $0 })
            } else {
                self.olderPerRecordCompletionBlock?(result.value, recordID, result.error)
            }
        } progress: { progress in
            self.perRecordProgressBlock?(progress.recordID, progress.end)
        } completion: { result in
            if let block = self.fetchRecordsResultBlock { return block(result.mapError { $0 }) }
            let outcome = outcome.withLock { $0 }
            let error = result.error ?? (outcome.errors.isEmpty ? nil : .partialFailure(outcome.errors))
            self.olderFetchRecordsCompletionBlock?(outcome.records, error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perRecordProgressBlock.take(), perRecordResultBlock.take(), fetchRecordsResultBlock.take(),
            olderPerRecordCompletionBlock.take(), olderFetchRecordsCompletionBlock.take(),
            assetHandling.take()
        )
    }
}
