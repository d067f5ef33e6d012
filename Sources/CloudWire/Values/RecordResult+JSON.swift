extension RecordResult: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        if node["serverErrorCode"] != nil {
            self = .error(try WireError(reading: node))
        } else if node["deleted"]?.kind == .true, node["fields"] == nil {
            self = .tombstone(try Tombstone(reading: node))
        } else {
            self = .record(try WireRecord(reading: node))
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .record(let record): record.write(to: &writer)
        case .tombstone(let tombstone): tombstone.write(to: &writer)
        case .error(let error): error.write(to: &writer)
        }
    }
}

extension Tombstone: JSONObject {
    static var blank: Self { Self(recordName: "") }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("recordName", &recordName)
        members.member("deleted", .optional) { _ in
        } write: {
            $0.member("deleted", true)
        }
        members.optional("zoneID", &zoneID)
        if members.includesExtras { members.optional("recordType", &recordType) }
    }
}
