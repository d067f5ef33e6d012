import Foundation
import System

/// The requests of the service's lines, as our framework sends them: Apple's protocol with `X-Yap-Client: 1`.
struct ServiceRequests {
    static let container = "iCloud.bench"
    static let token = "bench-token"
    static let userRecordName = "_bench"
    /// Users beside the one who saves.
    static let otherUsersCount = 200

    static func token(ofUser number: Int) -> String { "bench-token-\(number)" }

    static let zone = #"{"zoneName":"notes"}"#

    private let random: SeededRandomSource

    init(seed: UInt64) {
        random = SeededRandomSource(seed: seed)
    }

    /// A whole request to `/database/1/...`.
    static func request(
        _ action: String, _ body: String, device: String = "bench", headers: String = ""
    ) -> [UInt8] {
        whole(
            "POST /database/1/\(container)/development/private/\(action)?ckWebAuthToken=\(token)"
                + "&clientId=\(device) HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Yap-Client: 1\r\n" + headers
                + "Content-Type: application/json\r\n", body)
    }

    /// A head without its end, and the body.
    static func whole(_ head: String, _ body: String) -> [UInt8] {
        Array("\(head)Content-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8)
    }

    static let makeZone = request(
        "zones/modify", #"{"operations":[{"operationType":"create","zone":{"zoneID":\#(zone)}}]}"#)

    static let listZones = request("zones/list", "{}")

    /// The names of new records.
    func names(_ count: Int) -> [String] {
        (0..<count).map { _ in random.nextUUID() }
    }

    /// A request that makes the records of these names, with an operation id as the framework gives one.
    func save(_ names: some Sequence<String>, device: String = "bench") -> [UInt8] {
        Self.request(
            "records/modify", Self.saveBody(names), device: device,
            headers: "X-Yap-Operation: \(random.nextUUID())\r\n")
    }

    /// The body of such a request.
    static func saveBody(_ names: some Sequence<String>) -> String {
        let operations = names.enumerated().map { index, name in
            #"{"operationType":"create","record":{"recordName":"\#(name)","recordType":"Note","#
                + #""fields":\#(fields(index))}}"#
        }
        return #"{"operations":[\#(operations.joined(separator: ","))],"zoneID":\#(zone)}"#
    }

    private static func fields(_ number: Int) -> String {
        let fields = [
            #""title":{"value":"Note number \#(number)","type":"STRING"}"#,
            #""body":{"value":"Two dozen eggs from the farm, and the bill of the \#(number % 28)th.","#
                + #""type":"STRING"}"#,
            #""isDone":{"value":\#(number % 2),"type":"INT64"}"#,
            #""priority":{"value":\#(number % 7),"type":"INT64"}"#,
            #""estimateHours":{"value":\#(Double(number % 40) / 4),"type":"DOUBLE"}"#,
            #""created":{"value":\#(1_700_000_000_000 + number),"type":"TIMESTAMP"}"#,
            #""project":{"value":"household","type":"STRING"}"#,
            #""tags":{"value":["home","food"],"type":"STRING_LIST"}"#,
        ]
        return "{\(fields.joined(separator: ","))}"
    }

    /// The type of these records without an index.
    static let schema = """
        DEFINE SCHEMA RECORD TYPE Note (
            title STRING, body STRING, isDone INT64, priority INT64, estimateHours DOUBLE, created TIMESTAMP,
            project STRING, tags LIST<STRING>,
            GRANT WRITE TO "_creator", GRANT CREATE TO "_icloud", GRANT READ TO "_world"
        );
        """

    /// A request for one record.
    static func lookup(_ name: String) -> [UInt8] {
        request("records/lookup", #"{"records":[{"recordName":"\#(name)"}],"zoneID":\#(zone)}"#)
    }

    /// A request for a page of the zone's changes.
    static func changes(after token: String?) -> [UInt8] {
        let token = token.map { #","syncToken":"\#($0)""# } ?? ""
        return request("changes/zone", #"{"zones":[{"zoneID":\#(zone)\#(token),"resultsLimit":200}]}"#)
    }
}
