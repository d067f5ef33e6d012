internal import CloudKit
internal import CloudWire
internal import Yap

/// The models as the extension's blocks.
struct CloudSyncMap: Sendable {
    let models: [CloudSyncModel]
    /// The zone of the models that name none.
    let zoneID: CKRecordZone.ID

    /// Checks that the database knows each model's collection as one of its type, and that each record belongs to one
    /// model.
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

    /// The model of a record: one type may be in several zones, each in a collection of its own.
    func model(of record: CKRecord) -> CloudSyncModel? {
        model(ofType: record.recordType, in: record.recordID.zoneID)
    }

    func model(ofType recordType: String, in zoneID: CKRecordZone.ID) -> CloudSyncModel? {
        models.first { $0.recordType == recordType && self.zoneID(of: $0) == zoneID }
    }

    /// Other fields make another version: then all rows are walked, and what they hold of new fields is uploaded.
    var versionTag: String {
        models.map { Self.tag(of: $0, $0.fieldNames) }.sorted().joined(separator: ";")
    }

    /// What a version tag says of a model with some fields.
    static func tag(of model: CloudSyncModel, _ fieldNames: [String]) -> String {
        "\(tagPrefix(model))\(fieldNames.joined(separator: ",")))"
    }

    /// What a version tag says of a model before its fields.
    private static func tagPrefix(_ model: CloudSyncModel) -> String {
        "\(model.collection)=\(model.zoneName.map { "\($0)/" } ?? "")\(model.recordType)("
    }

    /// The fields of a model that a version didn't have; all, when it didn't have the model.
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

    /// What a row holds of fields that the version before didn't sync.
    ///
    /// - Parameters:
    ///   - own: The object without what earlier versions have kept for this one; nil when they kept nothing.
    ///   - isOnServer: Whether the server has the record, or had it in this life.
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
        // What was only kept of a field that a former version synced was sent, or waits, since it was set; but a record
        // that the version before makes again has only the fields that it knows.
        let names = newNames.filter { name in
            !isOnServer || neverSynced.contains(name)
                || ownFields.map { ($0[name] ?? .cleared).says(fields[name] ?? .cleared) } ?? true
        }
        // What the version before didn't sync and a row has only by default, nobody has set.
        let changed = fields.filter { name, field in
            guard newNames.contains(name) else { return info.hasMissedChanges }
            return names.contains(name) && !field.isAbsent(defaults[name])
        }
        var originals: [String: Field] = [:]
        for name in names {
            // Of a new field the server has nothing, or what another device wrote, which wins.
            originals[name] = .cleared
            // A rule must not count what was synced before: a counter would add it to the server's.
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
                // Only a deletion can wait for a record without a row: nothing but it needs to go up.
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
