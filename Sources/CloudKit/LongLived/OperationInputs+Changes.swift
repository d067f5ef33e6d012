import Foundation

extension CKFetchRecordZoneChangesOperation: LongLivedOperation {
    static let kind = "fetchRecordZoneChanges"

    func encodeInputs(with coder: NSCoder) {
        coder.encode(list: recordZoneIDs, forKey: "RecordZoneIDs")
        coder.encode(fetchAllChanges, forKey: "FetchAllChanges")
        guard let configurations = configurationsByRecordZoneID else { return }
        let kept = configurations.sorted { $0.key.description < $1.key.description }
            .map { KeptZoneConfiguration($0.key, $0.value) }
        coder.encode(list: kept, forKey: "Configurations")
    }

    func takeInputs(from coder: NSCoder) {
        recordZoneIDs = coder.list(of: CKRecordZone.ID.self, forKey: "RecordZoneIDs")
        fetchAllChanges = coder.decodeBool(forKey: "FetchAllChanges")
        configurationsByRecordZoneID = coder.list(of: KeptZoneConfiguration.self, forKey: "Configurations")
            .map { kept in
                Dictionary(kept.map { ($0.zoneID, $0.configuration) }) { first, _ in first }
            }
    }
}

/// The options of a zone's changes, in an archive.
final class KeptZoneConfiguration: NSObject, NSSecureCoding {
    let zoneID: CKRecordZoneID
    let configuration: CKFetchRecordZoneChangesConfiguration

    init(_ zoneID: CKRecordZoneID, _ configuration: CKFetchRecordZoneChangesConfiguration) {
        self.zoneID = zoneID
        self.configuration = configuration
    }

    static var supportsSecureCoding: Bool { true }

    func encode(with coder: NSCoder) {
        coder.encode(zoneID, forKey: "ZoneID")
        if let token = configuration.previousServerChangeToken { coder.encode(token, forKey: "Token") }
        if let limit = configuration.resultsLimit { coder.encode(limit, forKey: "ResultsLimit") }
        coder.encode(strings: configuration.desiredKeys, forKey: "DesiredKeys")
    }

    init?(coder: NSCoder) {
        guard let zoneID = coder.object(CKRecordZoneID.self, forKey: "ZoneID") else { return nil }
        self.zoneID = zoneID
        let limit = "ResultsLimit"
        configuration = CKFetchRecordZoneChangesConfiguration(
            previousServerChangeToken: coder.object(CKServerChangeToken.self, forKey: "Token"),
            resultsLimit: coder.containsValue(forKey: limit) ? coder.decodeInteger(forKey: limit) : nil,
            desiredKeys: coder.strings(forKey: "DesiredKeys"))
    }
}

extension CKFetchDatabaseChangesOperation: LongLivedOperation {
    static let kind = "fetchDatabaseChanges"

    func encodeInputs(with coder: NSCoder) {
        if let previousServerChangeToken { coder.encode(previousServerChangeToken, forKey: "Token") }
        coder.encode(resultsLimit, forKey: "ResultsLimit")
        coder.encode(fetchAllChanges, forKey: "FetchAllChanges")
    }

    func takeInputs(from coder: NSCoder) {
        previousServerChangeToken = coder.object(CKServerChangeToken.self, forKey: "Token")
        resultsLimit = coder.decodeInteger(forKey: "ResultsLimit")
        fetchAllChanges = coder.decodeBool(forKey: "FetchAllChanges")
    }
}
