internal import CloudKit
internal import CloudWire
internal import Yap

/// The models as the blocks of the extension.
struct CloudSyncMap: Sendable {
    let models: [CloudSyncModel]
    /// The zone of the models without a zone of their own.
    let zoneID: CKRecordZone.ID

    /// Checks that the database has registered each model's collection with the model's type, and that each record
    /// belongs to one model.
    ///
    /// - Throws: `YapDatabaseError`: `missingRegistration` or `typeMismatch`; `YapDatabaseCloudKitError.fieldMap`.
    func check(in database: YapDatabase) throws {
        for (index, model) in models.enumerated() {
            try database.checkRegistration(of: model.objectType, inCollection: model.collection)
            for other in models[..<index] {
                if other.collection == model.collection {
                    throw YapDatabaseCloudKitError.fieldMap(
                        "two models have the collection \"\(model.collection)\"")
                }
                if other.recordType == model.recordType, zoneID(of: other) == zoneID(of: model) {
                    throw YapDatabaseCloudKitError.fieldMap(
                        "the collections \"\(other.collection)\" and \"\(model.collection)\" have the record type "
                            + "\"\(model.recordType)\" in one zone: give one of them another type, or a zone of its own"
                    )
                }
            }
        }
    }

    func zoneID(of model: CloudSyncModel) -> CKRecordZone.ID {
        model.zoneName.map { CKRecordZone.ID(zoneName: $0) } ?? zoneID
    }

    /// All zones, the sync's own first.
    var zoneIDs: [CKRecordZone.ID] {
        let others = Set(models.map { zoneID(of: $0) }).subtracting([zoneID])
        return [zoneID] + others.sorted { $0.zoneName < $1.zoneName }
    }

    func model(forCollection collection: String) -> CloudSyncModel? {
        models.first { $0.collection == collection }
    }

    /// Returns the model of a record. A type may be in several zones, each with its own collection.
    func model(of record: CKRecord) -> CloudSyncModel? {
        model(ofType: record.recordType, in: record.recordID.zoneID)
    }

    func model(ofType recordType: String, in zoneID: CKRecordZone.ID) -> CloudSyncModel? {
        models.first { $0.recordType == recordType && self.zoneID(of: $0) == zoneID }
    }

    /// Version of the models. If the fields change, it differs: then all rows are read, and their values of new fields
    /// are uploaded.
    var versionTag: String {
        models.map { Self.tag(of: $0, $0.fieldNames) }.sorted().joined(separator: ";")
    }

    /// Returns the part of a version tag for a model with these fields.
    static func tag(of model: CloudSyncModel, _ fieldNames: [String]) -> String {
        "\(tagPrefix(model))\(fieldNames.joined(separator: ",")))"
    }

    /// Returns the part of a version tag for a model, up to its fields.
    private static func tagPrefix(_ model: CloudSyncModel) -> String {
        "\(model.collection)=\(model.zoneName.map { "\($0)/" } ?? "")\(model.recordType)("
    }

    /// Returns the fields of a model that a version didn't have, or all if it didn't have the model.
    static func newFieldNames(of model: CloudSyncModel, since versionTag: String?) -> [String] {
        let tag = ";" + (versionTag ?? "")
        guard let prefix = tag.firstRange(of: ";" + tagPrefix(model)) else { return model.fieldNames }
        let known = Set(tag[prefix.upperBound...].prefix { $0 != ")" }.split(separator: ",").map(String.init))
        return model.fieldNames.filter { !known.contains($0) }
    }

    var recordHandler: YapDatabaseCloudKitRecordHandler {
        .withObject { [self] transaction, record, info, collection, key, object in
            guard let model = model(forCollection: collection) else { return }
            let zoneID = zoneID(of: model)
            guard let record, record.recordID.zoneID == zoneID else {
                let made = CKRecord(
                    recordType: model.recordType,
                    recordID: CKRecord.ID(recordName: RecordNames.name(forKey: key), zoneID: zoneID))
                info.fields = (try model.fields(object), [:])
                record = made
                return
            }
            guard let previous = info.previousObject else {
                guard info.versionInfo != nil else { return }
                let own = try transaction.objectWithoutKept(forKey: key, inCollection: collection)
                info.fields = try newFields(
                    of: model, object, withoutKept: own, info, isOnServer: record.recordChangeTag != nil)
                return
            }
            info.fields = try model.changes(from: previous, to: object)
        }
    }

    /// Returns a row's values of fields that the previous version didn't sync.
    ///
    /// - Parameters:
    ///   - own: The object without values that earlier versions kept for this one, or nil if they kept none.
    ///   - isOnServer: Whether the server has the record, or had this incarnation of it.
    private func newFields(
        of model: CloudSyncModel, _ object: any Sendable, withoutKept own: (any Sendable)?,
        _ info: YDBCKRecordInfo, isOnServer: Bool
    ) throws -> (changed: [String: Field], originals: [String: Field]) {
        let (fields, defaults) = (try model.fields(object), try model.defaults())
        let ownFields = try own.map { try model.fields($0) }
        let newNames = Self.newFieldNames(of: model, since: info.previousVersionTag)
        let neverSynced = info.formerVersionTags.reduce(Set(newNames)) {
            $0.intersection(Self.newFieldNames(of: model, since: $1))
        }
        // A kept value of a field that an earlier version synced was sent, or is pending, since it was set. But a
        // record that the previous version created again has only the fields that that version knows.
        let names = newNames.filter { name in
            !isOnServer || neverSynced.contains(name)
                || ownFields.map { ($0[name] ?? .cleared).says(fields[name] ?? .cleared) } ?? true
        }
        // A default value of a field that the previous version didn't sync was set by no user.
        let changed = fields.filter { name, field in
            guard newNames.contains(name) else { return info.hasMissedChanges }
            return names.contains(name) && !field.isAbsent(defaults[name])
        }
        var originals: [String: Field] = [:]
        for name in names {
            // The server has no value of a new field, or another device's, which wins.
            originals[name] = .cleared
            // A merge rule must not count values that were synced before: a counter would add them to the server's
            // value.
            if !neverSynced.contains(name), let value = changed[name],
                try model.merge(name, value, value, value) != nil
            {
                originals[name] = value
            }
        }
        return (changed, originals)
    }

    var mergeBlock: YapDatabaseCloudKit.MergeBlock {
        { [self] transaction, collection, key, remote, info in
            guard let collection, let key, let model = model(forCollection: collection),
                let object = try transaction.object(forKey: key, inCollection: collection)
            else {
                // Only a deletion can be pending for a record without a row, and only that is sent.
                return
            }
            let merge = try FieldMerge(
                names: model.fieldNames, local: try model.fields(object),
                pending: try info.pendingLocalRecord?.changedFields() ?? [:],
                originals: try info.originalValues.mapValues { value in
                    guard let value else { return .cleared }
                    return try Field(cloudValue: value, in: zoneID)
                },
                remote: try remote.allFields(), isKnown: info.isKnown,
                defaults: model.defaults, merge: model.merge, sums: model.sums)
            info.updatedPendingLocalRecord.setFields(merge.toUpload)
            info.combinedKeys.formUnion(merge.combined)
            if !merge.toStore.isEmpty { try model.store(transaction, key, merge.toStore) }
        }
    }
}
