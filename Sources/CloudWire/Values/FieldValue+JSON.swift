extension FieldValue {
    /// Reads a value of a given type.
    init(reading node: JSONNode, as type: FieldType) throws(JSONError) {
        switch type {
        case .string: self = .string(try node.string())
        case .int64: self = .int64(try Self.int64(node))
        case .double: self = .double(try Self.double(node))
        case .timestamp: self = .timestamp(milliseconds: try Self.int64(node))
        case .bytes: self = .bytes(try node.base64())
        case .encryptedBytes: self = .encryptedBytes(try node.base64())
        case .reference: self = .reference(try Reference(reading: node))
        case .location: self = .location(try Location(reading: node))
        case .asset: self = .asset(try Asset(reading: node))
        case .unknownList: self = .list(type, try Self.elementsOfUnknownType(node))
        default:
            guard let elementType = type.elementType else { throw node.unexpected("no list") }
            self = .list(
                type,
                try node.array { node throws(JSONError) in try FieldValue(reading: node, as: elementType) })
        }
    }

    /// Reads a value without a type. The type is guessed from the JSON, and a schema may correct it.
    init(readingUntyped node: JSONNode) throws(JSONError) {
        switch node.kind {
        case .string: self = .string(try node.string())
        case .integer, .true, .false: self = .int64(try Self.int64(node))
        case .number: self = .double(try node.double())
        case .array:
            let elements = try Self.elementsOfUnknownType(node)
            self = .list(elements.first?.type.listType ?? .unknownList, elements)
        case .object where node["recordName"] != nil: self = .reference(try Reference(reading: node))
        case .object where node["latitude"] != nil: self = .location(try Location(reading: node))
        case .object: self = .asset(try Asset(reading: node))
        case .null: throw node.unexpected("null inside a list")
        }
    }

    private static func elementsOfUnknownType(_ node: JSONNode) throws(JSONError) -> [FieldValue] {
        var elements = try node.array { element throws(JSONError) in
            guard element.kind != .array else { throw element.unexpected("a list inside a list") }
            return try FieldValue(readingUntyped: element)
        }
        guard let first = elements.first, elements.contains(where: { $0.type != first.type }) else {
            return elements
        }
        // Whole numbers mixed with fractions are doubles. A list of other mixed types is an error.
        elements = elements.compactMap { element in
            switch element {
            case .double: element
            case .int64(let value): .double(Double(value))
            default: nil
            }
        }
        guard elements.count == node.elementCount else {
            throw node.unexpected("values of several types in a list")
        }
        return elements
    }

    /// Reads a whole number, also from text, as clients with `numbersAsStrings` send it, and from a boolean.
    private static func int64(_ node: JSONNode) throws(JSONError) -> Int64 {
        switch node.kind {
        case .true: return 1
        case .false: return 0
        case .string:
            guard let value = Int64(try node.string()) else {
                throw node.unexpected("expected a whole number")
            }
            return value
        default: return try node.int64()
        }
    }

    private static func double(_ node: JSONNode) throws(JSONError) -> Double {
        guard node.kind == .string else { return try node.double() }
        guard let value = Double(try node.string()), value.isFinite else {
            throw node.unexpected("expected a number")
        }
        return value
    }

    func write(to writer: inout JSONWriter) {
        switch self {
        case .string(let value): writer.value(value)
        case .int64(let value): writer.fieldNumber(value)
        case .double(let value): writer.fieldNumber(value)
        case .timestamp(let milliseconds): writer.fieldNumber(milliseconds)
        case .bytes(let bytes), .encryptedBytes(let bytes): writer.base64(bytes)
        case .reference(let value): value.write(to: &writer)
        case .location(let value): value.write(to: &writer)
        case .asset(let value): value.write(to: &writer)
        case .list(_, let elements): writer.array(elements) { writer, element in element.write(to: &writer) }
        }
    }
}

extension Reference: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        var recordName: String?
        var zoneID: ZoneID?
        var action: Action?
        for member in try node.members() {
            switch member.key {
            case "recordName": recordName = try member.value.string()
            case _ where member.value.isNull: continue
            case "zoneID": zoneID = try ZoneID(reading: member.value)
            case "action": action = try member.value.choice("action of a reference")
            default: continue
            }
        }
        self.init(recordName: try node.required(recordName, "recordName"), zoneID: zoneID, action: action)
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("recordName", recordName)
            writer.member("action", action?.rawValue)
            writer.member("zoneID", zoneID)
        }
    }
}

extension Location: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(latitude: 0, longitude: 0)
        var latitude: Double?
        var longitude: Double?
        for member in try node.members() {
            switch member.key {
            case "latitude": latitude = try member.value.double()
            case "longitude": longitude = try member.value.double()
            case _ where member.value.isNull: continue
            case "horizontalAccuracy": horizontalAccuracy = try member.value.double()
            case "verticalAccuracy": verticalAccuracy = try member.value.double()
            case "altitude": altitude = try member.value.double()
            case "speed": speed = try member.value.double()
            case "course": course = try member.value.double()
            case "timestamp": timestampMilliseconds = try member.value.int64()
            default: continue
            }
        }
        self.latitude = try node.required(latitude, "latitude")
        self.longitude = try node.required(longitude, "longitude")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("latitude", latitude)
            writer.member("longitude", longitude)
            writer.member("horizontalAccuracy", horizontalAccuracy)
            writer.member("verticalAccuracy", verticalAccuracy)
            writer.member("altitude", altitude)
            writer.member("speed", speed)
            writer.member("course", course)
            writer.member("timestamp", timestampMilliseconds)
        }
    }
}

extension Asset: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        var isAsset = false
        for member in try node.members() {
            switch member.key {
            case _ where member.value.isNull: continue
            case "fileChecksum": fileChecksum = try member.value.string()
            case "size": size = try member.value.int64()
            case "wrappingKey": wrappingKey = try member.value.string()
            case "referenceChecksum": referenceChecksum = try member.value.string()
            case "receipt": receipt = try member.value.string()
            case "downloadURL": downloadURL = try member.value.string()
            case "downloadedData": downloadedData = try member.value.string()
            default: continue
            }
            isAsset = true
        }
        guard isAsset else { throw node.unexpected("no reference, location or asset has these keys") }
        if let size, size < 0 { throw node.unexpected("an asset of a negative size") }
    }

    func write(to writer: inout JSONWriter) {
        guard let form = writer.assetForm else { return writeAsItIs(to: &writer) }
        form.told(self, writer.zoneOfRecord).writeAsItIs(to: &writer)
    }

    private func writeAsItIs(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("fileChecksum", fileChecksum)
            writer.member("size", size)
            writer.member("wrappingKey", wrappingKey)
            writer.member("referenceChecksum", referenceChecksum)
            writer.member("receipt", receipt)
            writer.member("downloadURL", downloadURL)
            writer.member("downloadedData", downloadedData)
        }
    }
}
