package import CloudWire
public import Foundation
internal import System

/// Fetches the changes of zones since their tokens.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The token and other options of a zone.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The zones, in the order in which they are fetched.
    public var recordZoneIDs: [CKRecordZone.ID]?
    /// The options of each zone. A zone without options is fetched completely.
    public var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// True to fetch all pages; false for one page, after which the app continues if more are coming.
    public var fetchAllChanges = true

    /// Called for each changed record.
    @preconcurrency public var recordWasChangedBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// The older form of `recordWasChangedBlock`; not called if that is set.
    @available(*, deprecated, renamed: "recordWasChangedBlock")
    @preconcurrency public var recordChangedBlock: (@Sendable (CKRecord) -> Void)?
    {
        get { olderRecordChangedBlock }
        set { olderRecordChangedBlock = newValue }
    }
    var olderRecordChangedBlock: (@Sendable (CKRecord) -> Void)?
    /// Called for each deleted record, with its type.
    @preconcurrency public var recordWithIDWasDeletedBlock:
        (@Sendable (CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Called after each page but a zone's last. Store the token once the page's changes are stored.
    @preconcurrency public var recordZoneChangeTokensUpdatedBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Called at the end of each zone.
    @preconcurrency public var recordZoneFetchResultBlock:
        (
            @Sendable (
                CKRecordZone.ID,
                Result<
                    (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool),
                    any Error
                >
            ) -> Void
        )?
    /// The older form of `recordZoneFetchResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "recordZoneFetchResultBlock")
    @preconcurrency public var recordZoneFetchCompletionBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { olderRecordZoneFetchCompletionBlock }
        set { olderRecordZoneFetchCompletionBlock = newValue }
    }
    var olderRecordZoneFetchCompletionBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    /// Called last. A failed zone doesn't fail the operation.
    @preconcurrency public var fetchRecordZoneChangesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `fetchRecordZoneChangesResultBlock`; not called if that is set. Gets `CKError.partialFailure`
    /// if zones or records have failed.
    @available(*, deprecated, renamed: "fetchRecordZoneChangesResultBlock")
    @preconcurrency public var fetchRecordZoneChangesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderFetchRecordZoneChangesCompletionBlock }
        set { olderFetchRecordZoneChangesCompletionBlock = newValue }
    }
    var olderFetchRecordZoneChangesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Called with a zone's checksum before the zone's end. If it is set, each record has its contribution to the
    /// checksum.
    package var zoneChecksumBlock: (@Sendable (CKRecordZone.ID, ZoneChecksum) -> Void)?
    /// Called with the version of the schema, an opaque text, before the zone's end is reported.
    package var schemaVersionBlock: (@Sendable (String) -> Void)?
    /// Decides how each file of the records is handled. Nil requires all files.
    package var assetHandling: AssetHandlingRule?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that fetches the changes of `recordZoneIDs`.
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID]? = nil,
        configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? = nil
    ) {
        self.init()
        self.recordZoneIDs = recordZoneIDs
        self.configurationsByRecordZoneID = configurationsByRecordZoneID
    }

    override func execute() {
        let zones = (recordZoneIDs ?? []).map { zoneID in
            let configuration = configurationsByRecordZoneID?[zoneID]
            return FetchZoneChangesExchange.Zone(
                zoneID: zoneID, token: configuration?.previousServerChangeToken,
                resultsLimit: configuration?.resultsLimit, desiredKeys: configuration?.desiredKeys,
                countsRecords: zoneChecksumBlock != nil)
        }
        let (fetchesAllChanges, assetHandling) = (fetchAllChanges, assetHandling)
        let errors = Lock<[AnyHashable: any Error]>([:])
        run { address in
            DownloadingExchange(
                FetchZoneChangesExchange(
                    zones: zones, fetchesAllChanges: fetchesAllChanges, address: address),
                address: address, handling: assetHandling)
        } event: { event in
            switch event {
            case .changed(let recordID, let result):
                // Code with the older blocks only gets the error here.
                if let error = result.error { errors.withLock { $0[recordID] = error } }
                self.report(recordID, result)
            case .deleted(let recordID, let recordType):
                self.recordWithIDWasDeletedBlock?(recordID, recordType)
            case .tokenUpdated(let zoneID, let token, let clientToken):
                self.recordZoneChangeTokensUpdatedBlock?(zoneID, token, clientToken)
            case .zoneEnded(let zoneID, let result):
                if let error = result.error { errors.withLock { $0[zoneID] = error } }
                if let checksum = result.value?.checksum { self.zoneChecksumBlock?(zoneID, checksum) }
                if let version = result.value?.schemaVersion { self.schemaVersionBlock?(version) }
                self.report(zoneID, result)
            }
        } completion: { result in
            if let block = self.fetchRecordZoneChangesResultBlock { return block(result.mapError { $0 }) }
            let errors = errors.withLock { $0 }
            let error = result.error ?? (errors.isEmpty ? nil : .partialFailure(errors))
            self.olderFetchRecordZoneChangesCompletionBlock?(error)
        }
    }

    private func report(_ recordID: CKRecord.ID, _ result: Result<RecordState, CKError>) {
        let result = result.map { CKRecord(state: $0) }
        if let recordWasChangedBlock {
            recordWasChangedBlock(recordID, result.mapError { $0 })
        } else if let record = result.value {
            olderRecordChangedBlock?(record)
        }
    }

    private func report(
        _ zoneID: CKRecordZone.ID, _ result: Result<FetchZoneChangesExchange.ZoneEnd, CKError>
    ) {
        if let recordZoneFetchResultBlock {
            recordZoneFetchResultBlock(
                zoneID,
                result.map { ($0.token, $0.clientToken, $0.moreComing) }.mapError { $0 })
        } else {
            let end = result.value
            olderRecordZoneFetchCompletionBlock?(
                zoneID, end?.token, end?.clientToken, end?.moreComing ?? false, result.error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            recordWasChangedBlock.take(), olderRecordChangedBlock.take(), recordWithIDWasDeletedBlock.take(),
            recordZoneChangeTokensUpdatedBlock.take(), recordZoneFetchResultBlock.take(),
            olderRecordZoneFetchCompletionBlock.take(), fetchRecordZoneChangesResultBlock.take(),
            olderFetchRecordZoneChangesCompletionBlock.take(), zoneChecksumBlock.take(),
            schemaVersionBlock.take(), assetHandling.take()
        )
    }
}

/// The token and other options of a zone.
public final class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
    @unchecked Sendable
{
    // Sendable because an app sets it before the operation is added, and it isn't changed later.

    /// The token of the last fetch; nil to fetch the whole zone.
    public var previousServerChangeToken: CKServerChangeToken?
    /// Maximum changes in one page; nil leaves it to the server.
    public var resultsLimit: Int?
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Makes options that fetch the whole zone.
    public override init() {
        super.init()
    }

    /// Makes options that fetch the changes since `previousServerChangeToken`.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
        self.resultsLimit = resultsLimit
        self.desiredKeys = desiredKeys
    }

    /// Returns a copy.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
            desiredKeys: desiredKeys)
    }

    /// Returns true if `object` has the same values.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKFetchRecordZoneChangesConfiguration else { return false }
        return previousServerChangeToken == other.previousServerChangeToken
            && resultsLimit == other.resultsLimit && desiredKeys == other.desiredKeys
    }

    /// The same for equal configurations.
    public override var hash: Int { resultsLimit.hashValue }

    // MARK: Archives

    /// Configurations can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the configuration in a keyed archive.
    public func encode(with coder: NSCoder) {
        if let previousServerChangeToken {
            coder.encode(previousServerChangeToken, forKey: "PreviousServerChangeToken")
        }
        if let resultsLimit { coder.encode(resultsLimit, forKey: "ResultsLimit") }
        if let desiredKeys { coder.encode(desiredKeys as NSArray, forKey: "DesiredKeys") }
    }

    /// Reads a configuration from a keyed archive.
    public init?(coder: NSCoder) {
        previousServerChangeToken = coder.object(
            CKServerChangeToken.self, forKey: "PreviousServerChangeToken")
        if coder.containsValue(forKey: "ResultsLimit") {
            resultsLimit = coder.decodeInteger(forKey: "ResultsLimit")
        }
        desiredKeys = coder.object(NSArray.self, forKey: "DesiredKeys")?.compactMap { $0 as? String }
    }
}
