import CloudStore
import CloudWire

/// What one operation comes to, before its neighbours are looked at.
enum ModifyOutcome {
    case save(RecordDraft)
    case delete(RecordRow)
    /// The record was gone already, and the client is content with that.
    case nothingToDelete
    case failed(WireError)
}

/// A record as it will be, without the version that it gets when all is decided.
struct RecordDraft {
    let old: RecordRow?
    let oldReferences: [ReferenceRow]
    let recordType: String
    let parent: String?
    let fields: [String: Field]
    let fieldBytes: [UInt8]
    let references: [ReferenceRow]
    let oldAssets: [AssetUse]
    let assets: [AssetUse]
}

/// Decides one operation from the record that is there. Pure.
struct ModifyOperationDecider {
    let caller: ServiceCaller
    let limits: ServiceLimits

    /// What `operation` comes to when `stored` is the row of its record (a tombstone counts as no record).
    ///
    /// Throws only when the stored row can't be read.
    func outcome(of operation: ModifyBatch.Operation, key: RecordKey, stored: RecordRow?) throws
        -> ModifyOutcome
    {
        let old = stored.flatMap { $0.isDeleted ? nil : $0 }
        if caller.scope == .public, let old, old.created.userRecordName != caller.user?.userRecordName {
            return .failed(operation.kind == .create ? try exists(old) : ServiceError.accessDenied)
        }
        let isCurrent = old.map { $0.changeTag == operation.record.recordChangeTag } ?? false
        switch (operation.kind, old) {
        case (.create, nil), (.forceUpdate, _), (.forceReplace, _):
            return try save(operation, key: key, old: old)
        case (.create, let old?):
            return .failed(try exists(old))
        case (.update, let old?), (.replace, let old?):
            return isCurrent ? try save(operation, key: key, old: old) : .failed(try stale(old))
        case (.update, nil), (.replace, nil):
            return .failed(
                operation.record.recordChangeTag == nil
                    ? ServiceError.recordNotFound : ServiceError.recordGone)
        case (.delete, let old?):
            let isLocked = operation.record.recordChangeTag != nil
            return isLocked && !isCurrent ? .failed(try stale(old)) : .delete(old)
        case (.delete, nil):
            return .failed(ServiceError.recordNotFound)
        case (.forceDelete, let old?):
            return .delete(old)
        case (.forceDelete, nil):
            return .nothingToDelete
        }
    }

    private func exists(_ old: RecordRow) throws -> WireError {
        ServiceError.recordExists(try old.wireRecord())
    }

    private func stale(_ old: RecordRow) throws -> WireError { ServiceError.staleTag(try old.wireRecord()) }

    private func save(_ operation: ModifyBatch.Operation, key: RecordKey, old: RecordRow?) throws
        -> ModifyOutcome
    {
        let record = operation.record
        guard let recordType = record.recordType ?? old?.recordType else {
            return .failed(ServiceError.badRequest("missing required field 'recordType'"))
        }
        if let old, old.recordType != recordType {
            return .failed(
                ServiceError.badRequest(
                    "the record is of type '\(old.recordType)', which can't become '\(recordType)'"))
        }
        if let error = unservedValue(in: record, of: key) { return .failed(error) }
        let oldFields = try old.map { try FieldsBinary.decode($0.fields) } ?? [:]
        let isReplaced = operation.kind == .replace || operation.kind == .forceReplace
        var fields = isReplaced ? [:] : oldFields
        for (name, field) in record.fields {
            fields[name] = field.value.map { Field($0, isEncrypted: field.isEncrypted) }
        }
        let parent = record.parent?.recordName ?? (isReplaced ? nil : old?.parent)
        let bytes = FieldsBinary.encode(fields)
        guard bytes.count <= limits.recordBytesMax else {
            return .failed(
                ServiceError.limitExceeded(
                    "the record has \(bytes.count) bytes; \(limits.recordBytesMax) are allowed"))
        }
        return .save(
            RecordDraft(
                old: old, oldReferences: bindingReferences(of: key, fields: oldFields, parent: old?.parent),
                recordType: recordType, parent: parent, fields: fields, fieldBytes: bytes,
                references: bindingReferences(of: key, fields: fields, parent: parent),
                oldAssets: oldFields.assetUses, assets: fields.assetUses))
    }

    /// A value that this service can't keep its word about.
    private func unservedValue(in record: WireRecord, of key: RecordKey) -> WireError? {
        for (name, field) in record.fields.sorted(by: { $0.key < $1.key }) {
            guard let value = field.value else { continue }
            let values: [FieldValue] = if case .list(_, let elements) = value { elements } else { [value] }
            for value in values {
                switch value {
                case .asset:
                    return ServiceError.badRequest("field '\(name)': assets can't be kept yet")
                case .reference(let reference) where reference.bindingKind != nil:
                    guard let zoneID = reference.zoneID else { continue }
                    guard let zone = try? caller.key(of: zoneID), zone == key.zone else {
                        return ServiceError.badRequest("field '\(name)' refers to a record in another zone")
                    }
                default:
                    continue
                }
            }
        }
        return nil
    }
}
