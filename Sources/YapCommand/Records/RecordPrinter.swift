import CloudWire

/// Prints records as they are read: as text with one line each, or as JSON in CloudKit's format.
struct RecordPrinter {
    private let console: Console
    private let isJSON: Bool
    private var count = 0

    init(_ console: Console, isJSON: Bool) throws {
        self.console = console
        self.isJSON = isJSON
        if isJSON { try console.print("{\"records\":[", end: "") }
    }

    mutating func print(_ record: WireRecord) throws {
        count += 1
        if isJSON {
            let text = String(decoding: try record.json(), as: UTF8.self)
            try console.print((count > 1 ? ",\n" : "\n") + text, end: "")
        } else {
            try console.print(Self.line(record))
        }
    }

    func end() throws {
        if isJSON {
            try console.print("]}")
        } else {
            console.note(count == 1 ? "1 record" : "\(count) records")
        }
    }

    private static func line(_ record: WireRecord) -> String {
        let modified = record.modified.map { TimeText.utc($0.timestampMilliseconds) } ?? "-"
        let fields = record.fields.keys.sorted().map { name in
            "\(name)=\(record.fields[name].map(text) ?? "")"
        }
        let words = [
            record.zoneID?.zoneName ?? "-", record.recordType ?? "-", record.recordName ?? "-", modified,
        ]
        return (words + fields).joined(separator: "  ")
    }

    private static func text(_ field: Field) -> String {
        guard let value = field.value else { return "null" }
        return field.isEncrypted ? "(encrypted)" : text(value)
    }

    private static func text(_ value: FieldValue) -> String {
        switch value {
        case .string(let text): JSON.string(text).text
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        case .timestamp(let milliseconds): TimeText.utc(milliseconds)
        case .bytes(let bytes), .encryptedBytes(let bytes): "(\(bytes.count) bytes)"
        case .reference(let reference): "->\(JSON.string(reference.recordName).text.dropFirst().dropLast())"
        case .location(let location): "\(location.latitude),\(location.longitude)"
        case .asset(let asset): "(asset of \(asset.size ?? 0) bytes)"
        case .list(_, let values): "[" + values.map(text).joined(separator: ", ") + "]"
        }
    }
}
