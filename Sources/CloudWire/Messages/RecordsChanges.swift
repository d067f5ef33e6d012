/// The body of `records/changes`, which Apple has replaced by `changes/zone`: one zone, named at the top.
package struct RecordsChangesRequest: Hashable, Sendable {
    /// The options of the request.
    package var item: ChangesZoneRequest.Item

    /// Makes a request.
    package init(_ item: ChangesZoneRequest.Item) { self.item = item }
}

/// The response of `records/changes`.
package struct RecordsChangesResponse: Hashable, Sendable {
    /// The changed and deleted records.
    package var records: [RecordResult]
    /// Where this page ended.
    package var syncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// True if the newest came first, where that was asked for.
    package var reverse: Bool?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes a page.
    package init(records: [RecordResult], syncToken: String?, moreComing: Bool?, reverse: Bool? = nil) {
        self.records = records
        self.syncToken = syncToken
        self.moreComing = moreComing
        self.reverse = reverse
    }
}

extension RecordsChangesRequest: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        item = try ChangesZoneRequest.Item(reading: node)
    }

    func write(to writer: inout JSONWriter) { item.write(to: &writer) }
}

extension RecordsChangesResponse: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init(records: [], syncToken: nil, moreComing: nil)
        var records: [RecordResult]?
        for member in try node.members() {
            switch member.key {
            case "records": records = try member.value.array(of: RecordResult.self)
            case _ where member.value.isNull: try unknown.keep(member)
            case "syncToken": syncToken = try member.value.string()
            case "moreComing": moreComing = try member.value.bool()
            case "reverse": reverse = try member.value.bool()
            default: try unknown.keep(member)
            }
        }
        self.records = try node.required(records, "records")
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("records", records)
            writer.member("syncToken", syncToken)
            writer.member("moreComing", moreComing)
            writer.member("reverse", reverse)
            writer.members(unknown)
        }
    }
}
