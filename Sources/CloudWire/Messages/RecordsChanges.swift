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
    /// Token of this page.
    package var syncToken: String?
    /// True if there is another page.
    package var moreComing: Bool?
    /// True if the page starts with the newest change, if that was requested.
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

extension RecordsChangesResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(records: [], syncToken: nil, moreComing: nil) }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        members.required("records", &records)
        members.optional("syncToken", &syncToken)
        members.optional("moreComing", &moreComing)
        members.optional("reverse", &reverse)
    }
}
