package import CloudWire
public import Foundation
internal import System

/// Fetches what changed in zones since their tokens.
open class CKFetchRecordZoneChangesOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// From where and how much of a zone is fetched.
    public typealias ZoneConfiguration = CKFetchRecordZoneChangesConfiguration

    /// The zones, in the order in which they are fetched.
    public var recordZoneIDs: [CKRecordZone.ID]?
    /// From where and how much of each zone is fetched; a zone without one is fetched whole.
    public var configurationsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    /// Whether page after page is fetched; otherwise one, and the app goes on while more are to come.
    public var fetchAllChanges = true

    /// Called for each record that changed.
    @preconcurrency public var recordWasChangedBlock:
        (@Sendable (CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
    /// The older form of `recordWasChangedBlock`, not called when that is set.
    @available(*, deprecated, renamed: "recordWasChangedBlock")
    @preconcurrency public var recordChangedBlock: (@Sendable (CKRecord) -> Void)?
    {
        get { olderRecordChangedBlock }
        set { olderRecordChangedBlock = newValue }
    }
    var olderRecordChangedBlock: (@Sendable (CKRecord) -> Void)?
    /// Called for each record that was deleted, with the type that it had.
    @preconcurrency public var recordWithIDWasDeletedBlock:
        (@Sendable (CKRecord.ID, CKRecord.RecordType) -> Void)?
    /// Called after each page but a zone's last, with the token to store once the page's changes are.
    @preconcurrency public var recordZoneChangeTokensUpdatedBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?) -> Void)?
    /// Called at a zone's end.
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
    /// The older form of `recordZoneFetchResultBlock`, not called when that is set.
    @available(*, deprecated, renamed: "recordZoneFetchResultBlock")
    @preconcurrency public var recordZoneFetchCompletionBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    {
        get { olderRecordZoneFetchCompletionBlock }
        set { olderRecordZoneFetchCompletionBlock = newValue }
    }
    var olderRecordZoneFetchCompletionBlock:
        (@Sendable (CKRecordZone.ID, CKServerChangeToken?, Data?, Bool, (any Error)?) -> Void)?
    /// Called last. Zones that failed for themselves are no failure of the whole.
    @preconcurrency public var fetchRecordZoneChangesResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `fetchRecordZoneChangesResultBlock`, not called when that is set: with zones or records
    /// that failed it gets `CKError.partialFailure`.
    @available(*, deprecated, renamed: "fetchRecordZoneChangesResultBlock")
    @preconcurrency public var fetchRecordZoneChangesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderFetchRecordZoneChangesCompletionBlock }
        set { olderFetchRecordZoneChangesCompletionBlock = newValue }
    }
    var olderFetchRecordZoneChangesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Called with a zone's checksum before the zone's end is told; with it each record knows what it adds to that.
    package var zoneChecksumBlock: (@Sendable (CKRecordZone.ID, ZoneChecksum) -> Void)?
    /// Called with the version of the schema, an opaque text, before the zone's end is reported.
    package var schemaVersionBlock: (@Sendable (String) -> Void)?
    /// Decides what becomes of each file of the records. Nil requires all files.
    package var assetHandling: AssetHandlingRule?

    /// Makes an operation that fetches nothing yet.
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
                // Who has the older blocks only isn't told of it otherwise.
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

/// From where and how much of a zone is fetched.
public final class CKFetchRecordZoneChangesConfiguration: NSObject, NSSecureCoding, NSCopying,
    @unchecked Sendable
{
    // Sendable because an app sets it up before the operation is added, and nothing changes it after.

    /// The token up to which the app knows the zone; nil to fetch it whole.
    public var previousServerChangeToken: CKServerChangeToken?
    /// Changes in one page at most; nil leaves it to the server.
    public var resultsLimit: Int?
    /// The fields to fetch; nil for all.
    public var desiredKeys: [CKRecord.FieldKey]?

    /// Makes a configuration that fetches a zone whole.
    public override init() {
        super.init()
    }

    /// Makes a configuration that fetches a zone since `previousServerChangeToken`.
    public convenience init(
        previousServerChangeToken: CKServerChangeToken? = nil, resultsLimit: Int? = nil,
        desiredKeys: [CKRecord.FieldKey]? = nil
    ) {
        self.init()
        self.previousServerChangeToken = previousServerChangeToken
        self.resultsLimit = resultsLimit
        self.desiredKeys = desiredKeys
    }

    /// A configuration of its own with the same values.
    public func copy(with zone: NSZone? = nil) -> Any {
        CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: previousServerChangeToken, resultsLimit: resultsLimit,
            desiredKeys: desiredKeys)
    }

    /// Whether `object` fetches the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKFetchRecordZoneChangesConfiguration else { return false }
        return previousServerChangeToken == other.previousServerChangeToken
            && resultsLimit == other.resultsLimit && desiredKeys == other.desiredKeys
    }

    /// The same for equal configurations.
    public override var hash: Int { resultsLimit.hashValue }

    // MARK: Archives

    /// Configurations can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the configuration to a keyed archive.
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
