import CloudStore
import CloudWire

extension StoredRecord {
    /// The version of the record, which an update must name unless it is forced.
    var changeTag: String { ChangeTag(epoch: tagEpoch, counter: counter).text }

    /// Returns the record in a response, with the fields of `desiredKeys`, or all fields if it is nil or empty.
    ///
    /// - Throws: `BinaryError` if the stored fields can't be read.
    package func wireRecord(desiredKeys: [String]? = nil) throws -> WireRecord {
        try wireRecord(fields: FieldsBinary.decode(fields), desiredKeys: desiredKeys)
    }

    /// The same, but if all fields are wanted they aren't decoded. Unreadable fields are found when the
    /// response is written.
    func answer(desiredKeys: [String]?) throws -> WireRecord {
        guard desiredKeys?.isEmpty ?? true else { return try wireRecord(desiredKeys: desiredKeys) }
        var record = wireRecord(fields: [:], desiredKeys: nil)
        record.storedFields = fields
        return record
    }

    /// The record without its fields.
    var wireOutline: WireRecord { wireRecord(fields: [:], desiredKeys: nil) }

    /// The same for decoded fields.
    func wireRecord(fields: [String: Field], desiredKeys: [String]?) -> WireRecord {
        var fields = fields
        if let desiredKeys, !desiredKeys.isEmpty {
            let desired = Set(desiredKeys)
            fields = fields.filter { desired.contains($0.key) }
        }
        return WireRecord(
            recordName: key.recordName, recordType: recordType, fields: fields, recordChangeTag: changeTag,
            created: created.wireStamp, modified: modified.wireStamp, deleted: false, zoneID: key.zone.zoneID,
            parent: parent.map { Reference(recordName: $0) }, pluginFields: [:])
    }

    /// Returns the record, or its tombstone, in a change feed.
    func feedResult(desiredKeys: [String]?) -> RecordResult {
        isDeleted ? .tombstone(tombstone) : result(desiredKeys: desiredKeys)
    }

    /// Returns the record in a response. An unreadable record is an error of its own and doesn't affect the others.
    func result(desiredKeys: [String]?) -> RecordResult {
        do {
            return .record(try answer(desiredKeys: desiredKeys))
        } catch {
            return .error(ServiceError.unreadableRecord.named(key.recordName))
        }
    }

    var tombstone: Tombstone {
        Tombstone(recordName: key.recordName, zoneID: key.zone.zoneID, recordType: recordType)
    }
}

extension StoreStamp {
    var wireStamp: WireRecord.Stamp {
        WireRecord.Stamp(
            timestampMilliseconds: timestampMilliseconds, userRecordName: userRecordName, deviceID: deviceID)
    }
}

extension WireRecord.Stamp {
    var storeStamp: StoreStamp {
        StoreStamp(
            timestampMilliseconds: timestampMilliseconds, userRecordName: userRecordName ?? "",
            deviceID: deviceID ?? "")
    }
}

/// Returns the binding references of a record, sorted.
func bindingReferences(of key: RecordKey, fields: [String: Field], parent: String?) -> [ReferenceRow] {
    var rows = Set<ReferenceRow>()
    func add(_ value: FieldValue) {
        switch value {
        case .reference(let reference):
            guard let kind = reference.bindingKind else { return }
            let target = RecordKey(zone: key.zone, recordName: reference.recordName)
            rows.insert(ReferenceRow(target: target, sourceName: key.recordName, kind: kind))
        case .list(_, let values):
            values.forEach(add)
        default:
            break
        }
    }
    fields.values.compactMap(\.value).forEach(add)
    if let parent {
        let target = RecordKey(zone: key.zone, recordName: parent)
        rows.insert(ReferenceRow(target: target, sourceName: key.recordName, kind: .parent))
    }
    return rows.sorted()
}

extension Reference {
    var bindingKind: ReferenceRow.Kind? {
        switch action {
        case .deleteSelf: .deleteSelf
        case .validate: .validate
        case nil, .some(.none): nil
        }
    }
}
