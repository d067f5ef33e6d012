extension ZoneID: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            switch member.key {
            case "zoneName": zoneName = try member.value.string()
            case _ where member.value.isNull: continue
            case "ownerRecordName": ownerRecordName = try member.value.string()
            case "zoneType": zoneType = try member.value.string()
            default: continue
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("zoneName", zoneName)
            writer.member("ownerRecordName", ownerRecordName)
            writer.member("zoneType", zoneType)
        }
    }
}
