import CloudStore
import CloudWire

/// The outcome of one operation on its own.
enum ModifyOutcome {
    case save(RecordDraft)
    /// An earlier write of the same series created the record, and it was deleted since. Nothing is written,
    /// and the response has the tag and stamps of that write.
    case madeBefore(RecordDraft, MadeRecord)
    case delete(StoredRecord)
    /// The record was already deleted, and the client accepts that.
    case nothingToDelete
    case failed(WireError)
}

/// A record to write, without the version, which is assigned after the whole batch is decided.
struct RecordDraft {
    let old: StoredRecord?
    let oldReferences: [ReferenceRow]
    let recordType: String
    let parent: String?
    let fields: [String: Field]
    let fieldBytes: [UInt8]
    let references: [ReferenceRow]
    let oldAssets: [AssetUse]
    let assets: [AssetUse]
    /// Schema additions that the record needs.
    let additions: SchemaAdditions
}

extension ModifyOutcome {
    /// The schema additions of a save, or nil if there are none.
    var schemaAdditions: SchemaAdditions? {
        guard case .save(let draft) = self, !draft.additions.isEmpty else { return nil }
        return draft.additions
    }
}

/// Decides one operation from the stored record. Pure.
struct ModifyOperationDecider {
    let caller: ServiceCaller
    let limits: ServiceLimits
    let access: Access
    let settings: ServiceSettings
    let receipts: AssetReceipts

    /// Returns the outcome of `operation` if `stored` is the row of its record (a tombstone counts as no record).
    /// An error that shows the server's record has it without its fields, which `KeptRecordsForm.shown` reads.
    ///
    /// Throws only if the stored row can't be read.
    func outcome(
        of operation: ModifyBatch.Operation, key: RecordKey, stored: StoredRecord?, growth: inout SchemaGrowth
    ) throws -> ModifyOutcome {
        let old = stored.flatMap { $0.isDeleted ? nil : $0 } ?? access.ownUserRecord(key)
        if let refusal = access.refusal(of: operation, key: key, old: old) { return .failed(refusal) }
        let isCurrent = old.map(operation.knows) ?? false
        switch (operation.kind, old) {
        case (.create, nil), (.forceUpdate, _), (.forceReplace, _):
            return try save(operation, key: key, old: old, growth: &growth)
        case (.create, let old?):
            return .failed(exists(old))
        case (.update, let old?), (.replace, let old?):
            return isCurrent
                ? try save(operation, key: key, old: old, growth: &growth) : .failed(stale(old))
        case (.update, nil), (.replace, nil):
            return .failed(
                operation.record.recordChangeTag == nil
                    ? ServiceError.recordNotFound : ServiceError.recordGone)
        case (.delete, let old?):
            let isLocked = operation.record.recordChangeTag != nil
            guard isLocked || !settings.deletesNeedTag else {
                return .failed(ServiceError.badRequest("missing required field 'recordChangeTag'"))
            }
            return isLocked && !isCurrent ? .failed(stale(old)) : .delete(old)
        case (.delete, nil):
            return .failed(ServiceError.recordNotFound)
        case (.forceDelete, let old?):
            return .delete(old)
        case (.forceDelete, nil):
            return .nothingToDelete
        }
    }

    private func exists(_ old: StoredRecord) -> WireError {
        access.hiding(ServiceError.recordExists(old.wireOutline), of: old)
    }

    private func stale(_ old: StoredRecord) -> WireError {
        access.hiding(ServiceError.staleTag(old.wireOutline), of: old)
    }

    private func save(
        _ operation: ModifyBatch.Operation, key: RecordKey, old: StoredRecord?, growth: inout SchemaGrowth
    ) throws -> ModifyOutcome {
        var record = operation.record
        guard let recordType = record.recordType ?? old?.recordType else {
            return .failed(ServiceError.badRequest("missing required field 'recordType'"))
        }
        if let old, old.recordType != recordType {
            return .failed(
                ServiceError.badRequest(
                    "the record is of type '\(old.recordType)', which can't become '\(recordType)'"))
        }
        let additions: SchemaAdditions
        switch growth.take(record.fields, recordType: recordType) {
        case .success(let taken): (record.fields, additions) = taken
        case .failure(let error): return .failed(error)
        }
        if let error = unservedValue(in: record, of: key) { return .failed(error) }
        if let zoneID = record.parent?.zoneID, (try? caller.key(of: zoneID)) != key.zone {
            return .failed(ServiceError.badRequest("field 'parent' refers to a record in another zone"))
        }
        let oldFields = try old.map { try FieldsBinary.decode($0.fields) } ?? [:]
        let isReplaced = operation.kind == .replace || operation.kind == .forceReplace
        var fields = isReplaced ? [:] : oldFields
        let sent: [String: Field]
        do {
            sent = try receipts.settled(record.fields, of: key, recordType: recordType, old: oldFields)
        } catch {
            return .failed(error)
        }
        for (name, field) in sent {
            fields[name] = field.value.map { Field($0, isEncrypted: field.isEncrypted) }
        }
        let keptParent = isReplaced || record.takesParentAway ? nil : old?.parent
        let parent = record.parent?.recordName ?? keptParent
        let bytes = FieldsBinary.encode(fields)
        guard bytes.count <= limits.recordBytesMax else {
            return .failed(
                ServiceError.limitExceeded(
                    "the record has \(bytes.count) bytes; \(limits.recordBytesMax) are allowed"))
        }
        if let type = growth.grown.recordTypes[recordType] {
            do {
                try limits.checkIndexEntries(
                    of: QuerySubject(key: key, recordType: recordType, fields: fields), bytes: bytes.count,
                    in: type)
            } catch {
                return .failed(error)
            }
        }
        return .save(
            RecordDraft(
                old: old.flatMap { $0.isMadeUp ? nil : $0 },
                oldReferences: bindingReferences(of: key, fields: oldFields, parent: old?.parent),
                recordType: recordType, parent: parent, fields: fields, fieldBytes: bytes,
                references: bindingReferences(of: key, fields: fields, parent: parent),
                oldAssets: oldFields.assetUses, assets: fields.assetUses,
                additions: additions))
    }

    /// Returns the error for a value that this service can't support.
    private func unservedValue(in record: WireRecord, of key: RecordKey) -> WireError? {
        for (name, field) in record.fields.sorted(by: { $0.key < $1.key }) {
            guard let value = field.value else { continue }
            let values: [FieldValue] = if case .list(_, let elements) = value { elements } else { [value] }
            for value in values {
                switch value {
                case .reference(let reference):
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
