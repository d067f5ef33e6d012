extension WireRecord: JSONCodable {
    /// Reads a record of a response. Unreadable fields are kept as received.
    init(reading node: JSONNode) throws(JSONError) {
        try self.init(reading: node, refusesUnreadableFields: false)
    }

    /// Reads a record of a request. An unreadable field is an error.
    init(readingRequest node: JSONNode) throws(JSONError) {
        try self.init(reading: node, refusesUnreadableFields: true)
    }

    private init(reading node: JSONNode, refusesUnreadableFields: Bool) throws(JSONError) {
        self.init()
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "recordName": recordName = try value.string()
            case "recordType": recordType = try value.string()
            case "fields": try readFields(value, refusesUnreadableFields)
            case "recordChangeTag": recordChangeTag = try value.string()
            case "created": created = try Stamp(reading: value)
            case "modified": modified = try Stamp(reading: value)
            case "deleted": deleted = try value.bool()
            case "zoneID": zoneID = try ZoneID(reading: value)
            case "parent": parent = try Reference(reading: value)
            case "share": share = try Reference(reading: value)
            case "shortGUID": shortGUID = try value.string()
            case "pluginFields": pluginFields = try Self.pluginFields(value)
            default: try unknown.keep(member)
            }
        }
    }

    private mutating func readFields(_ node: JSONNode, _ refusesUnreadable: Bool) throws(JSONError) {
        fields.reserveCapacity(node.elementCount)
        for member in try node.members() {
            do {
                fields[member.key.string] = try Field(reading: member.value)
            } catch {
                guard !refusesUnreadable else { throw error }
                try unreadableFields.keep(member)
            }
        }
    }

    private static func pluginFields(_ node: JSONNode) throws(JSONError) -> [String: Field] {
        var fields: [String: Field] = [:]
        for member in try node.members() { fields[member.key.string] = try Field(reading: member.value) }
        return fields
    }

    func write(to writer: inout JSONWriter) {
        let outer = writer.numbersAsStrings
        if let numbersAsStrings { writer.numbersAsStrings = numbersAsStrings }
        defer { writer.numbersAsStrings = outer }
        writer.zoneOfRecord = zoneID
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("recordType", recordType)
            if let storedFields {
                writer.key("fields")
                writer.storedFields(storedFields)
                // A deletion has a record name and no fields.
            } else if !fields.isEmpty || !unreadableFields.isEmpty || recordType != nil {
                writer.key("fields")
                writer.object { writer in
                    writer.members(fields)
                    writer.members(unreadableFields)
                }
            }
            if let pluginFields {
                writer.key("pluginFields")
                writer.object { $0.members(pluginFields) }
            }
            writer.member("recordChangeTag", recordChangeTag)
            writer.member("created", created)
            writer.member("modified", modified)
            writer.member("deleted", deleted)
            writer.member("zoneID", zoneID)
            writer.member("parent", parent)
            writer.member("share", share)
            writer.member("shortGUID", shortGUID)
            writer.members(unknown)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func members(_ fields: [String: Field]) {
        for (name, field) in fields.sorted(by: { $0.key < $1.key }) {
            key(name)
            field.write(to: &self)
        }
    }
}

extension WireRecord.Stamp: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(timestampMilliseconds: 0)
        var timestamp: Int64?
        for member in try node.members() {
            switch member.key {
            case "timestamp": timestamp = try member.value.int64()
            case _ where member.value.isNull: continue
            case "userRecordName": userRecordName = try member.value.string()
            case "deviceID": deviceID = try member.value.string()
            default: continue
            }
        }
        timestampMilliseconds = try node.required(timestamp, "timestamp")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("timestamp", timestampMilliseconds)
            writer.member("userRecordName", userRecordName)
            writer.member("deviceID", deviceID)
        }
    }
}
