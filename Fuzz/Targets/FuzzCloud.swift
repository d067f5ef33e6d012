import CloudService
import CloudStore
import CloudWire
import System

/// A service with a zone and some records of every type of field, which inputs are asked of.
final class FuzzCloud: Sendable {
    static let shared = FuzzCloud()

    private let service: CloudService

    private init() {
        service = CloudService(
            store: MemoryCloudStore(), clock: ManualTimeSource(), random: SeededRandomSource(seed: 1),
            users: ["ada": ServiceUser(userRecordName: "_ada")])
        let zones = #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"todos"}}}]}"#
        _ = respond("zones/modify", Array(zones.utf8))
        for zone in ["todos", "_defaultZone"] {
            let operations = (0..<8).map { Self.operation($0) }.joined(separator: ",")
            let body = #"{"operations":[\#(operations)],"zoneID":{"zoneName":"\#(zone)"}}"#
            let response = respond("records/modify", Array(body.utf8))
            precondition(response.status == 200, String(decoding: response.body, as: UTF8.self))
        }
    }

    /// A record with values that often meet: small numbers, a few words, places near each other.
    private static func operation(_ number: Int) -> String {
        let fields = [
            #""s":{"value":"\#(["", "apple pie", "apple", "\u{e9}t\u{e9}"][number % 4])","type":"STRING"}"#,
            #""n":{"value":\#(number % 3 - 1),"type":"INT64"}"#,
            #""d":{"value":\#(Double(number) / 4),"type":"DOUBLE"}"#,
            #""t":{"value":\#(number * 1000),"type":"TIMESTAMP"}"#,
            #""b":{"value":"AQI=","type":"BYTES"}"#,
            #""r":{"value":{"recordName":"r\#(number / 2)","action":"NONE"},"type":"REFERENCE"}"#,
            #""p":{"value":{"latitude":\#(number),"longitude":\#(-number)},"type":"LOCATION"}"#,
            #""l":{"value":["a","b\#(number)"],"type":"STRING_LIST"}"#,
            #""i":{"value":[\#(number),1],"type":"INT64_LIST"}"#,
        ]
        let kept = fields.enumerated().filter { ($0.offset + number) % 5 > 0 || number < 2 }.map(\.element)
        let all = kept.joined(separator: ",")
        let record = #"{"recordName":"r\#(number)","recordType":"todo","fields":{\#(all)}}"#
        return #"{"operationType":"create","record":\#(record)}"#
    }

    func respond(_ endpoint: String, _ body: [UInt8]) -> WireResponse {
        service.respond(
            to: WireRequest(
                path: "/database/1/iCloud.fuzz/development/private/\(endpoint)",
                query: [("ckWebAuthToken", "ada")], headers: [("X-Yap-Client", "1")], body: body))
    }

    /// The answer to an operator who asks as the user.
    func answerToOperator(
        _ endpoint: String, _ body: [UInt8], query: [(name: String, value: String)] = []
    ) throws -> WireResponse {
        let request = WireRequest(
            path: "/database/1/iCloud.fuzz/development/private/\(endpoint)", query: query,
            headers: [("X-Yap-Client", "1")], body: body)
        let caller = OperatorCaller(userRecordName: "_ada")
        return try checked(service.respond(to: request, for: caller), endpoint)
    }

    /// The answer, which must be JSON, and an error only when it is the client's.
    func answer(_ endpoint: String, _ body: [UInt8]) throws -> WireResponse {
        try checked(respond(endpoint, body), endpoint)
    }

    private func checked(_ response: WireResponse, _ endpoint: String) throws -> WireResponse {
        let text = String(decoding: response.body, as: UTF8.self)
        try expect(response.status < 500 && !text.contains("INTERNAL_ERROR"), "\(endpoint): \(text)")
        if response.status != 200 {
            let error = try WireError(json: response.body)
            try expect(error.serverErrorCode.httpStatus == response.status, "\(endpoint): \(text)")
        }
        return response
    }
}
