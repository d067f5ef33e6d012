extension WireZone: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(zoneID: ZoneID())
        var zoneID: ZoneID?
        for member in try node.members() {
            switch member.key {
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "atomic": atomic = try member.value.bool()
            case "deleted": deleted = try member.value.bool()
            case "deletionReason": deletionReason = try member.value.choice("deletion reason")
            default: try unknown.keep(member)
            }
        }
        self.zoneID = try node.required(zoneID, "zoneID")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneID", zoneID)
            writer.member("syncToken", syncToken)
            writer.member("atomic", atomic)
            writer.member("deleted", deleted)
            if writer.includesExtras { writer.member("deletionReason", deletionReason?.rawValue) }
            writer.members(unknown)
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
