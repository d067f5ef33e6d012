import Foundation

extension CKModifyRecordsOperation: LongLivedOperation {
    static let kind = "modifyRecords"

    var filesToSend: [URL] {
        (recordsToSave ?? []).flatMap { $0.state.files(for: savePolicy) }.compactMap(\.asset.fileURL)
    }

    func encodeInputs(with coder: NSCoder) {
        coder.encode(list: recordsToSave, forKey: "RecordsToSave")
        coder.encode(list: recordIDsToDelete, forKey: "RecordIDsToDelete")
        coder.encode(savePolicy.rawValue, forKey: "SavePolicy")
        coder.encode(isAtomic, forKey: "IsAtomic")
        if let clientChangeTokenData {
            coder.encode(clientChangeTokenData as NSData, forKey: "ClientChangeTokenData")
        }
    }

    func takeInputs(from coder: NSCoder) {
        recordsToSave = coder.list(of: CKRecord.self, forKey: "RecordsToSave")
        recordIDsToDelete = coder.list(of: CKRecord.ID.self, forKey: "RecordIDsToDelete")
        savePolicy = RecordSavePolicy(rawValue: coder.decodeInteger(forKey: "SavePolicy")) ?? savePolicy
        isAtomic = coder.decodeBool(forKey: "IsAtomic")
        clientChangeTokenData = coder.object(NSData.self, forKey: "ClientChangeTokenData") as Data?
    }
}

extension CKFetchRecordsOperation: LongLivedOperation {
    static let kind = "fetchRecords"

    func encodeInputs(with coder: NSCoder) {
        coder.encode(list: recordIDs, forKey: "RecordIDs")
        coder.encode(fetchesUser, forKey: "FetchesUser")
        coder.encode(strings: desiredKeys, forKey: "DesiredKeys")
    }

    func takeInputs(from coder: NSCoder) {
        recordIDs = coder.list(of: CKRecord.ID.self, forKey: "RecordIDs")
        fetchesUser = coder.decodeBool(forKey: "FetchesUser")
        desiredKeys = coder.strings(forKey: "DesiredKeys")
    }
}

extension CKQueryOperation: LongLivedOperation {
    static let kind = "query"

    func encodeInputs(with coder: NSCoder) {
        if let query { coder.encode(query, forKey: "Query") }
        if let cursor { coder.encode(cursor, forKey: "Cursor") }
        if let zoneID { coder.encode(zoneID, forKey: "ZoneID") }
        coder.encode(resultsLimit, forKey: "ResultsLimit")
        coder.encode(strings: desiredKeys, forKey: "DesiredKeys")
    }

    func takeInputs(from coder: NSCoder) {
        query = coder.object(CKQuery.self, forKey: "Query")
        cursor = coder.object(CKQueryCursor.self, forKey: "Cursor")
        zoneID = coder.object(CKRecordZone.ID.self, forKey: "ZoneID")
        resultsLimit = coder.decodeInteger(forKey: "ResultsLimit")
        desiredKeys = coder.strings(forKey: "DesiredKeys")
    }
}
