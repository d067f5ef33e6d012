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
        recordID.namesUser ? userRecordName ?? recordID.recordName : recordID.recordName
    }

    /// A field's value as it goes out.
    func outgoing(_ field: Field) -> Field {
        guard let userRecordName, let value = field.value, value.namesUser else { return field }
        var field = field
        field.value = value.naming(userRecordName)
        return field
    }

    /// A query as it goes out.
    func outgoing(_ query: RecordQuery) -> RecordQuery {
        guard namesUser(query) else { return query }
        var query = query
        query.filterBy = query.filterBy?.map { filter in
            guard namesUser(filter) else { return filter }
            var filter = filter
            filter.fieldValue = filter.fieldValue.map { outgoing($0) }
            return filter
        }
        return query
    }

    /// Whether the server has to be told who the user is, to understand the query.
    func namesUser(_ query: RecordQuery?) -> Bool { query?.filterBy?.contains(where: namesUser) ?? false }

    private func namesUser(_ filter: RecordFilter) -> Bool {
        guard filter.fieldValue?.value?.namesUser == true else { return false }
        // Our server knows who asks; and a subscription to one's own records comes back as it was saved.
        let isOfUsers = [SystemField.creator, .lastModifier].contains { $0.rawValue == filter.fieldName }
        return serverKind == .apple || !isOfUsers
    }
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

extension RecordValue {
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
