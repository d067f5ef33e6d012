extension FieldType {
    /// Reads the name of a type. Each field has one, so common types are recognized without making a string.
    init(reading node: JSONNode) throws(JSONError) {
        switch node.text {
        case "STRING"?: self = .string
        case "INT64"?: self = .int64
        case "TIMESTAMP"?: self = .timestamp
        case "DOUBLE"?: self = .double
        case "REFERENCE"?: self = .reference
        case "STRING_LIST"?: self = .stringList
        default: self = try node.choice("field type")
        }
    }
}

extension Field: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        var value: JSONNode?
        var type: FieldType?
        var isEncrypted = false
        for member in try node.members() {
            switch member.key {
            case "value": value = member.value
            case _ where member.value.isNull: continue
            case "type": type = try FieldType(reading: member.value)
            case "isEncrypted": isEncrypted = try member.value.bool()
            default: continue
            }
        }
        guard let value else { throw node.unexpected("the key 'value' is missing") }
        self.init(value: nil, type: type, isEncrypted: isEncrypted)
        guard !value.isNull else { return }
        if let type {
            self.value = try FieldValue(reading: value, as: type)
        } else {
            self.value = try FieldValue(readingUntyped: value)
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("value")
            if let value { value.write(to: &writer) } else { writer.null() }
            writer.member("type", type?.rawValue)
            if isEncrypted { writer.member("isEncrypted", true) }
        }
    }
}
