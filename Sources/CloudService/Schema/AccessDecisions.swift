import CloudStore
import CloudWire

/// Decides what the operations of a batch may do, and what their responses may show.
extension Access {
    /// Returns the error of a forbidden operation, or nil if it is allowed or fails for another reason.
    ///
    /// For an existing record that the caller may neither read nor write, `update`, `replace` and `delete`
    /// return the error of a missing record, so they don't reveal that the record exists. `forceUpdate`,
    /// `forceReplace` and `forceDelete` return `notPermitted`. `create` isn't rejected here; it then fails
    /// because the name is taken.
    func refusal(of operation: ModifyBatch.Operation, key: RecordKey, old: StoredRecord?) -> WireError? {
        guard decides else { return nil }
        guard let old else { return refusal(ofNew: operation, key: key) }
        // A caller that chooses the name always learns that it is taken.
        if operation.kind == .create { return nil }
        let permissions = permissions(old)
        switch operation.kind {
        case .delete, .forceDelete:
            if old.recordType == Schema.usersTypeName { return AccessError.usersAreNotDeleted }
        default: break
        }
        if permissions.contains(.write) { return nil }
        if permissions.contains(.read) { return ServiceError.notPermitted(.write) }
        switch operation.kind {
        case .update, .replace:
            return operation.record.recordChangeTag == nil
                ? ServiceError.recordNotFound : ServiceError.recordGone
        case .delete: return ServiceError.recordNotFound
        case .create, .forceUpdate, .forceReplace, .forceDelete: return ServiceError.notPermitted(.write)
        }
    }

    private func refusal(ofNew operation: ModifyBatch.Operation, key: RecordKey) -> WireError? {
        switch operation.kind {
        case .update, .replace, .delete, .forceDelete: return nil
        case .create, .forceUpdate, .forceReplace: break
        }
        // An operation without a type is rejected in any case.
        guard let recordType = operation.record.recordType else { return nil }
        guard permissionsForOwn(recordType).contains(.create) else {
            return ServiceError.notPermitted(.create)
        }
        // Such names are reserved for the users' own records.
        if key.recordName.hasPrefix("_") && recordType != Schema.usersTypeName {
            return AccessError.reservedName
        }
        return nil
    }

    /// Returns the error without its record if the caller may not read that record.
    func hiding(_ error: WireError, of row: StoredRecord) -> WireError {
        guard !permissions(row).contains(.read) else { return error }
        var error = error
        error.serverRecord = nil
        return error
    }

    /// Returns the fields for the response to a save. A caller without read permission gets back only the
    /// fields that it sent.
    func visible(
        _ fields: [String: Field], of row: StoredRecord, to operation: ModifyBatch.Operation
    ) -> [String: Field] {
        guard !permissions(row).contains(.read) else { return fields }
        return fields.filter { operation.record.fields[$0.key] != nil }
    }

    /// Returns the caller's own user record in the public database. It exists before its first save, without
    /// fields and times.
    func ownUserRecord(_ key: RecordKey) -> StoredRecord? {
        guard decides, let user, key.recordName == user, key.zone.isDefault,
            key.zone.database == .publicDatabase
        else { return nil }
        let stamp = StoreStamp(timestampMilliseconds: 0, userRecordName: user, deviceID: "")
        return StoredRecord(
            key: key, recordType: Schema.usersTypeName, tagEpoch: StoredRecord.madeUpEpoch, counter: 0,
            created: stamp, modified: stamp, fields: FieldsBinary.encode([:]))
    }
}

extension StoredRecord {
    /// Never assigned to a save, since the epoch of a version has 64 random bits.
    fileprivate static let madeUpEpoch: UInt64 = 0

    /// True for a user record that was never saved.
    var isMadeUp: Bool {
        tagEpoch == Self.madeUpEpoch && counter == 0 && recordType == Schema.usersTypeName
    }
}

enum AccessError {
    static let usersAreNotDeleted = WireError(
        .accessDenied, reason: "a user's own record can't be deleted", ckErrorCode: 10)
    static let reservedName = WireError(
        .badRequest,
        reason: "BadRequestException: a public record's name can't begin with '_': such names are the users'",
        ckErrorCode: 12)
}
