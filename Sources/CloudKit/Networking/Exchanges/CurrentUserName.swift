internal import CloudWire

// An app knows the user who is signed in by one name, `CKCurrentUserDefaultName`, and others by theirs. The server
// knows only the latter: here one becomes the other.

extension RequestAddress {
    /// A record of an answer, as the app knows it.
    /// - Returns: `CKError.serverResponseLost` when it lacks what makes a record.
    func record(_ record: WireRecord, in zoneID: CKRecordZoneID) -> Result<RecordState, CKError> {
        // In the private database all zones are the user's own.
        let user = userRecordName ?? (scope == .private ? record.zoneID?.ownerRecordName : nil)
        return Result { () throws(CKError) in try RecordState(record, in: zoneID, userRecordName: user) }
    }

    /// What the server calls the record. The user's own is meant by `CKCurrentUserDefaultName`.
    func recordName(_ recordID: CKRecordID) -> String {
        recordID.namesUser ? outgoingUserRecordName ?? recordID.recordName : recordID.recordName
    }

    /// The value of a field of a record in `zoneID` as it goes out. In other zones than the default one it is a name
    /// like any other.
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

    /// A query in `zoneID` (nil is the default one, or all) as it goes out.
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

    /// Whether the server has to be told who the user is, to understand the query.
    func namesUser(_ query: RecordQuery?, in zoneID: ZoneID?) -> Bool {
        query?.filterBy?.contains { namesUser($0, in: zoneID) } ?? false
    }

    private func namesUser(_ filter: RecordFilter, in zoneID: ZoneID?) -> Bool {
        guard filter.fieldValue?.value?.namesUser == true else { return false }
        let isOfUsers = [SystemFieldName.creator, .lastModifier].contains { $0.rawValue == filter.fieldName }
        // Our server knows who asks; and a subscription to one's own records comes back as it was saved.
        if isOfUsers { return serverKind == .apple }
        return zoneID.map { $0.zoneName == CKRecordZoneID.defaultZoneName } ?? true
    }

    /// Who the user is to the server, where that is known.
    var outgoingUserRecordName: String? { askedUserRecordName ?? userRecordName }
}

extension CKRecordID {
    /// The record of the user who is signed in.
    static let currentUser = CKRecordID(recordName: CKCurrentUserDefaultName)

    /// Whether it is the record of the user who is signed in, whoever that is.
    var namesUser: Bool {
        recordName == CKCurrentUserDefaultName && zoneID.zoneName == CKRecordZoneID.defaultZoneName
    }
}

extension RecordState {
    /// Whether a save of it names the user.
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
