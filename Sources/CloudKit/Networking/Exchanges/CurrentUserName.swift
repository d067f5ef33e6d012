internal import CloudWire

// An app calls the signed-in user `CKCurrentUserDefaultName`, and the server uses the user's real record name. These
// functions convert one name to the other.

extension RequestAddress {
    /// Converts a record of a response for the app.
    /// - Returns: the record; `CKError.serverResponseLost` if it lacks a required key.
    func record(_ record: WireRecord, in zoneID: CKRecordZoneID) -> Result<RecordState, CKError> {
        // All zones of the private database belong to the user.
        let user = userRecordName ?? (scope == .private ? record.zoneID?.ownerRecordName : nil)
        return Result { () throws(CKError) in try RecordState(record, in: zoneID, userRecordName: user) }
    }

    /// Returns the record's name on the server. `CKCurrentUserDefaultName` stands for the user's own record.
    func recordName(_ recordID: CKRecordID) -> String {
        recordID.namesUser ? outgoingUserRecordName ?? recordID.recordName : recordID.recordName
    }

    /// Returns the form of a field of a record in `zoneID` in requests. Only in the default zone,
    /// `CKCurrentUserDefaultName` stands for the user.
    func outgoing(_ field: Field, in zoneID: CKRecordZoneID) -> Field {
        zoneID.zoneName == CKRecordZoneID.defaultZoneName ? outgoing(field) : field
    }

    private func outgoing(_ field: Field) -> Field {
        guard let name = outgoingUserRecordName, let value = field.value, value.namesUser else {
            return field
        }
        var field = field
        field.value = value.naming(name)
        return field
    }

    /// Returns the form of a query in `zoneID` in requests. Nil is the default zone, or all zones.
    func outgoing(_ query: RecordQuery, in zoneID: ZoneID?) -> RecordQuery {
        guard namesUser(query, in: zoneID) else { return query }
        var query = query
        query.filterBy = query.filterBy?.map { filter in
            guard namesUser(filter, in: zoneID) else { return filter }
            var filter = filter
            filter.fieldValue = filter.fieldValue.map { outgoing($0) }
            return filter
        }
        return query
    }

    /// Returns true if the server must know the user to understand the query.
    func namesUser(_ query: RecordQuery?, in zoneID: ZoneID?) -> Bool {
        query?.filterBy?.contains { namesUser($0, in: zoneID) } ?? false
    }

    private func namesUser(_ filter: RecordFilter, in zoneID: ZoneID?) -> Bool {
        guard filter.fieldValue?.value?.namesUser == true else { return false }
        let isOfUsers = [SystemFieldName.creator, .lastModifier].contains { $0.rawValue == filter.fieldName }
        // Our server knows the user. So a subscription to the user's own records is returned as it was saved.
        if isOfUsers { return serverKind == .apple }
        return zoneID.map { $0.zoneName == CKRecordZoneID.defaultZoneName } ?? true
    }

    /// The user's name in requests; nil if unknown.
    var outgoingUserRecordName: String? { askedUserRecordName ?? userRecordName }
}

extension CKRecordID {
    /// The record of the signed-in user.
    static let currentUser = CKRecordID(recordName: CKCurrentUserDefaultName)

    /// True if this is the record of the signed-in user.
    var namesUser: Bool {
        recordName == CKCurrentUserDefaultName && zoneID.zoneName == CKRecordZoneID.defaultZoneName
    }
}

extension RecordState {
    /// True if a save of the record refers to the signed-in user.
    var namesUser: Bool {
        recordID.namesUser || plain.values.values.contains(where: \.namesUser)
    }
}

extension RecordFieldValue {
    fileprivate var namesUser: Bool {
        switch self {
        case .reference(let reference): reference.recordID.namesUser
        case .list(let values): values.contains(where: \.namesUser)
        default: false
        }
    }
}

extension FieldValue {
    fileprivate var namesUser: Bool {
        switch self {
        case .reference(let reference): reference.recordName == CKCurrentUserDefaultName
        case .list(_, let values): values.contains(where: \.namesUser)
        default: false
        }
    }

    fileprivate func naming(_ userRecordName: String) -> FieldValue {
        switch self {
        case .reference(var reference) where namesUser:
            reference.recordName = userRecordName
            return .reference(reference)
        case .list(let type, let values): return .list(type, values.map { $0.naming(userRecordName) })
        default: return self
        }
    }
}
