/// A line of an export, written by `yap export` and read by `yap import`.
package enum ExportLine: Hashable, Sendable {
    /// The first line: the version of the format, and the kind of export: `user` or `container`.
    case header(version: Int64, of: String)
    /// The schema in its language.
    case schema(String)
    /// Start of a database's contents. `owner` is the owner of a private database in an export with several.
    case database(DatabaseScope, owner: String?)
    /// Start of a zone's contents.
    case zone(String)
    /// A file of records: the SHA-256 of its bytes in hexadecimal, and their number.
    case asset(digest: String, bytes: Int64)
    /// The next bytes of the file.
    case data([UInt8])
    /// A record, without its change tag and zone.
    case record(WireRecord)
    /// The last line: the number of records and files, and the SHA-256 of all previous lines in hexadecimal,
    /// or nil if a person has edited them.
    case end(records: Int64, assets: Int64, digest: String?)

    /// The newest format.
    package static let version: Int64 = 1
}

extension ExportLine: JSONMessage, JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        var texts: [String: String] = [:]
        var numbers: [String: Int64] = [:]
        var record: WireRecord?
        var data: [UInt8]?
        for member in try node.members() {
            switch member.key {
            case "record": record = try WireRecord(readingRequest: member.value)
            case "data": data = try member.value.base64()
            case "of", "schema", "database", "owner", "zone", "asset", "sha256":
                texts[member.key.string] = try member.value.string()
            case "yapExport", "size", "records", "assets":
                numbers[member.key.string] = try member.value.int64()
            case "end": numbers["end"] = try member.value.bool() ? 1 : 0
            default: throw node.unexpected("the key '\(member.key.string)' is unknown")
            }
        }
        if let record {
            self = .record(record)
        } else if let data {
            self = .data(data)
        } else if let version = numbers["yapExport"] {
            self = .header(version: version, of: try node.required(texts["of"], "of"))
        } else if let schema = texts["schema"] {
            self = .schema(schema)
        } else if let name = texts["database"] {
            guard let scope = DatabaseScope(rawValue: name) else { throw node.unexpected("no database") }
            self = .database(scope, owner: texts["owner"])
        } else if let zone = texts["zone"] {
            self = .zone(zone)
        } else if let digest = texts["asset"] {
            self = .asset(digest: digest, bytes: try node.required(numbers["size"], "size"))
        } else if numbers["end"] == 1 {
            self = .end(
                records: try node.required(numbers["records"], "records"),
                assets: try node.required(numbers["assets"], "assets"), digest: texts["sha256"])
        } else {
            throw node.unexpected("expected a line of an export")
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            switch self {
            case .header(let version, let what):
                writer.member("yapExport", version)
                writer.member("of", what)
            case .schema(let text): writer.member("schema", text)
            case .database(let scope, let owner):
                writer.member("database", scope.rawValue)
                writer.member("owner", owner)
            case .zone(let name): writer.member("zone", name)
            case .asset(let digest, let bytes):
                writer.member("asset", digest)
                writer.member("size", bytes)
            case .data(let bytes):
                writer.key("data")
                writer.base64(bytes)
            case .record(let record): writer.member("record", record)
            case .end(let records, let assets, let digest):
                writer.member("end", true)
                writer.member("records", records)
                writer.member("assets", assets)
                writer.member("sha256", digest)
            }
        }
    }
}
