// The names before configurations.

/// From where and how much of a zone is fetched.
@available(*, deprecated, renamed: "CKFetchRecordZoneChangesOperation.ZoneConfiguration")
public typealias CKFetchRecordZoneChangesOptions = CKFetchRecordZoneChangesConfiguration

extension CKFetchRecordZoneChangesOperation {
    /// From where and how much of a zone is fetched.
    @available(*, deprecated, renamed: "ZoneConfiguration")
    public typealias ZoneOptions = CKFetchRecordZoneChangesConfiguration

    /// Makes an operation that fetches the changes of `recordZoneIDs`.
    /// - Parameters:
    ///   - recordZoneIDs: the zones.
    ///   - optionsByRecordZoneID: the options of each zone. A zone without options is fetched whole.
    @available(*, deprecated, renamed: "init(recordZoneIDs:configurationsByRecordZoneID:)")
    public convenience init(
        recordZoneIDs: [CKRecordZone.ID],
        optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]?
    ) {
        self.init(recordZoneIDs: recordZoneIDs, configurationsByRecordZoneID: optionsByRecordZoneID)
    }

    /// From where and how much of each zone is fetched: the configurations.
    @available(*, deprecated, renamed: "configurationsByRecordZoneID")
    public var optionsByRecordZoneID: [CKRecordZone.ID: ZoneConfiguration]? {
        get { configurationsByRecordZoneID }
        set { configurationsByRecordZoneID = newValue }
    }
}
