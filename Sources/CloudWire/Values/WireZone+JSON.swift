extension WireZone: JSONObject {
    static var blank: Self { Self(zoneID: ZoneID()) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("zoneID", &zoneID)
        members.optional("syncToken", &syncToken)
        members.optional("atomic", &atomic)
        members.optional("deleted", &deleted)
        if members.includesExtras {
            members.optional("deletionReason", choice: &deletionReason, named: "deletion reason")
        }
    }
}

extension ZoneResult: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        if node["serverErrorCode"] != nil {
            self = .error(try WireError(reading: node))
        } else {
            self = .zone(try WireZone(reading: node))
        }
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .zone(let zone): zone.write(to: &writer)
        case .error(let error): error.write(to: &writer)
        }
    }
}
