internal import CloudWire
import Foundation

extension RecordState {
    /// A record of a response.
    /// - Parameter userRecordName: the signed-in user; nil if unknown.
    /// - Throws: `CKError.serverResponseLost` if the record lacks a required key.
    init(_ record: WireRecord, in zoneID: CKRecordZoneID, userRecordName: String?) throws(CKError) {
        guard let recordName = record.recordName, let recordType = record.recordType else {
            throw CKError.unreadable("a record without a name or a type")
        }
        self.init(
            recordType: recordType, recordID: CKRecordID(recordName: recordName, zoneID: zoneID))
        changeTag = record.recordChangeTag
        creationDate = record.created.map { Date(milliseconds: $0.timestampMilliseconds) }
        modificationDate = record.modified.map { Date(milliseconds: $0.timestampMilliseconds) }
        self.userRecordName = userRecordName
        creatorUserRecordID = userID(record.created)
        lastModifiedUserRecordID = userID(record.modified)
        parent = record.parent.map { CKReference($0, in: zoneID) }
        share = record.share.map { CKReference($0, in: zoneID) }
        guard record.fields.values.contains(where: { !$0.isPlain }) else {
            // Nearly all records: the dictionary is reused, and no key is hashed again.
            plain = ValueStore(
                fetched: record.fields.mapValues { field in
                    field.value.map { RecordFieldValue($0, in: zoneID) } ?? .unsupported("no value")
                })
            return
        }
        var plainValues: [String: RecordFieldValue] = [:]
        plainValues.reserveCapacity(record.fields.count)
        var encryptedValues: [String: RecordFieldValue] = [:]
        for (key, field) in record.fields {
            guard let fieldValue = field.value else { continue }
            let value = RecordFieldValue(fieldValue, in: zoneID).fetched(of: recordID, key)
            if field.isEncrypted || fieldValue.type == .encryptedBytes {
                encryptedValues[key] = value
            } else {
                plainValues[key] = value
            }
        }
        plain = ValueStore(fetched: plainValues)
        encrypted = ValueStore(fetched: encryptedValues)
    }

    private func userID(_ stamp: WireRecord.Stamp?) -> CKRecordID? {
        guard let name = stamp?.userRecordName else { return nil }
        return name == userRecordName ? .currentUser : CKRecordID(recordName: name)
    }

    /// Returns the operation that saves the record.
    /// - Throws: `CKError.invalidArguments` for a value that no field can hold, `CKError.assetNotAvailable`
    ///   for an asset, both with the key.
    func saveOperation(
        _ policy: CKModifyRecordsOperation.RecordSavePolicy, uploads: AssetUploads, address: RequestAddress
    ) throws(CKError) -> RecordOperation {
        if recordType == CKRecord.SystemType.share { throw .noSharing }
        try checkNames()
        let kind: RecordOperation.Kind =
            switch policy {
            case .ifServerRecordUnchanged: changeTag == nil ? .create : .update
            case .changedKeys, .allKeys: .forceUpdate
            }
        var record = WireRecord(recordName: address.recordName(recordID), recordType: recordType)
        record.fields.reserveCapacity(plain.values.count + encrypted.values.count)
        var refusal: (key: String, error: CKError)?
        for (store, isEncrypted) in [(plain, false), (encrypted, true)] {
            for key in store.sentKeys(policy) {
                do throws(CKError) {
                    if let value = store[key] {
                        record.fields[key] = address.outgoing(
                            try wire(value, of: key, isEncrypted: isEncrypted, uploads),
                            in: recordID.zoneID)
                    } else if kind != .create {
                        // A record that doesn't exist yet has nothing to clear.
                        record.fields[key] = Field(value: nil, type: nil, isEncrypted: isEncrypted)
                    }
                } catch {
                    // The first error by its key is reported, so that the result doesn't depend on chance.
                    if refusal.map({ key < $0.key }) ?? true { refusal = (key, error) }
                }
            }
        }
        if let refusal { throw refusal.error.prefixed(refusal.key) }
        if isParentChanged, parent == nil, kind != .create { record.takesParentAway = true }
        if kind == .update { record.recordChangeTag = changeTag }
        if let parent, isParentChanged || policy == .allKeys || kind == .create {
            record.parent = Reference(recordName: parent.recordID.recordName)
        }
        return RecordOperation(operationType: kind, record: record)
    }

    private func wire(
        _ value: RecordFieldValue, of key: String, isEncrypted: Bool, _ uploads: AssetUploads
    ) throws(CKError) -> Field {
        guard value.hasAssets else { return try value.wire(isEncrypted: isEncrypted, in: recordID.zoneID) }
        return try value.wire(isEncrypted: isEncrypted, in: recordID.zoneID) { asset, index throws(CKError) in
            if let kept = kept(asset, in: key) { return kept }
            return try uploads.wire(at: AssetLocation(recordID: recordID, key: key, index: index))
        }
    }
}

extension Field {
    /// True if the field has a value, which is no file and isn't encrypted.
    fileprivate var isPlain: Bool {
        switch value {
        case nil, .asset, .encryptedBytes, .list(.assetList, _): false
        default: !isEncrypted
        }
    }
}

extension CKReference {
    convenience init(_ reference: Reference, in zoneID: CKRecordZoneID) {
        // A reference points into its record's zone.
        self.init(
            recordID: CKRecordID(recordName: reference.recordName, zoneID: zoneID),
            action: reference.action == .deleteSelf ? .deleteSelf : .none)
    }
}

extension Date {
    init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970, rounded; nil for a date beyond what 64 bits hold.
    var milliseconds: Int64? {
        Int64(exactly: (timeIntervalSince1970 * 1000).rounded())
    }
}
