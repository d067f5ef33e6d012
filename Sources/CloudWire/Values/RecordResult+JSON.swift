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

extension Tombstone: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(recordName: "")
        var recordName: String?
        for member in try node.members() {
            switch member.key {
            case "recordName": recordName = try member.value.string()
            case _ where member.value.isNull: try unknown.keep(member)
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "recordType": recordType = try member.value.string()
            case "deleted": continue
            default: try unknown.keep(member)
            }
        }
        self.recordName = try node.required(recordName, "recordName")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("deleted", true)
            writer.member("zoneID", zoneID)
            if writer.includesExtras { writer.member("recordType", recordType) }
            writer.members(unknown)
        }
    }
}
