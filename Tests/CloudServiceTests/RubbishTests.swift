import CloudService
import CloudStore
import CloudWire
import Foundation
import SQLiteTestSupport
import System
import Testing

/// Requests that were right once, with something in them changed: by a machine that has no idea what it means.
@Suite struct RubbishTests {
    private struct Valid {
        let endpoint: String
        let body: String
    }

    /// Values that a program is apt to stumble over.
    private static let values = [
        "null", "true", "0", "-1", "1", "-0", "1.5", "1e999", "1e18", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "\"\"", #""x""#, #""\u0000""#, #""é""#, #""e\u0301""#,
        #""_defaultZone""#, #""todos""#, #""_bob""#, #""__defaultOwner__""#, #""a""#, "[]", "{}", "[null]",
        "[[]]",
        #"["a","a"]"#, #"{"recordName":"a"}"#, #"{"recordName":"a","action":"DELETE_SELF"}"#,
        #"{"recordName":"b","action":"VALIDATE"}"#, #"{"zoneName":"todos"}"#,
        #"{"latitude":1,"longitude":-1}"#,
        #"{"value":-9223372036854775808,"type":"TIMESTAMP"}"#, #"{"value":[1,2.5],"type":"UNKNOWN_LIST"}"#,
        #"{"value":null}"#, #"{"value":[],"type":"REFERENCE_LIST"}"#, #""DELETE_SELF""#, #""forceDelete""#,
    ]

    private static func valid(_ cloud: TestService) throws -> [Valid] {
        let zone = #""zoneID":{"zoneName":"todos"}"#
        var tokens = [try #require(try cloud.changes().syncToken)]
        let known = try ChangeToken(text: tokens[0])
        for extreme in [Int64.min, -1, 0, .max] {
            var token = known
            token.counter = extreme
            tokens.append(token.text)
            token.liveUntil = extreme
            token.epoch = 0
            tokens.append(token.text)
        }
        let database = try #require(try cloud.databaseChanges().syncToken)
        let record = """
            "record":{"recordName":"a","recordType":"todo","recordChangeTag":"1.1","parent":{"recordName":"b"},\
            "fields":{"n":{"value":1,"type":"INT64"},"r":{"value":{"recordName":"b","action":"VALIDATE",\(zone)}}}}
            """
        var valid = RecordOperation.Kind.allCases.map { kind in
            Valid(
                endpoint: "records/modify",
                body: """
                    {"operations":[{"operationType":"\(kind)",\(record),"desiredKeys":["n"]},\
                    {"operationType":"forceUpdate","record":{"recordName":"b","recordType":"todo"}}],\
                    \(zone),"atomic":true,"numbersAsStrings":true}
                    """)
        }
        for token in tokens {
            valid.append(
                Valid(
                    endpoint: "changes/zone",
                    body: """
                        {"zones":[{\(zone),"syncToken":"\(token)","desiredKeys":["n"],"resultsLimit":1}],\
                        "resultsLimit":9,"desiredRecordTypes":["todo"],"reverse":false}
                        """))
        }
        for endpoint in ["changes/database", "zones/list"] {
            valid.append(Valid(endpoint: endpoint, body: #"{"syncToken":"\#(database)","resultsLimit":2}"#))
        }
        valid.append(
            Valid(
                endpoint: "records/lookup",
                body:
                    #"{"records":[{"recordName":"a","desiredKeys":["n"]},{"recordName":"b",\#(zone)}],\#(zone)}"#
            ))
        valid.append(
            Valid(endpoint: "zones/lookup", body: #"{"zones":[{"zoneName":"todos"},{"zoneName":"x"}]}"#))
        for kind in ["create", "delete"] {
            valid.append(
                Valid(
                    endpoint: "zones/modify",
                    body: #"{"operations":[{"operationType":"\#(kind)","zone":{"zoneID":{"zoneName":"y"}}}]}"#
                ))
        }
        return valid
    }

    /// Where the values of a JSON text stand, but for those behind another in an array.
    private static func places(in body: [UInt8]) -> [Range<Int>] {
        let starts = body.indices.filter { $0 > 0 && ":[".utf8.contains(body[$0 - 1]) }
        return starts.map { start in
            var depth = 0
            var isText = false
            let end = body[start...].firstIndex { byte in
                if byte == UInt8(ascii: "\"") { isText.toggle() }
                guard !isText else { return false }
                if "[{".utf8.contains(byte) { depth += 1 }
                if "]}".utf8.contains(byte) { depth -= 1 }
                return depth < 0 || depth == 0 && byte == UInt8(ascii: ",")
            }
            return start..<(end ?? body.endIndex)
        }
    }

    private static func mutated(_ body: String, _ random: SeededRandomSource) -> [UInt8] {
        var bytes = Array(body.utf8)
        for _ in 0..<random.next(in: 1..<3) {
            let places = places(in: bytes)
            guard !places.isEmpty, random.next(in: 0..<10) > 0 else {
                // No JSON any more, most likely.
                guard !bytes.isEmpty else { return bytes }
                bytes[random.next(in: 0..<bytes.count)] = UInt8(truncatingIfNeeded: random.next())
                continue
            }
            let place = places[random.next(in: 0..<places.count)]
            switch random.next(in: 0..<4) {
            case 0: bytes.replaceSubrange(place, with: bytes[places[random.next(in: 0..<places.count)]])
            default: bytes.replaceSubrange(place, with: values[random.next(in: 0..<values.count)].utf8)
            }
        }
        return bytes
    }

    static let seeds = Array(UInt64(1)...8)

    @Test(arguments: seeds) func everyRequestIsAnsweredInApplesCodesAndNoneHarmsTheNext(_ seed: UInt64) throws
    {
        let folder = try TemporaryFolder()
        let store: any CloudStore =
            seed % 2 == 0 ? MemoryCloudStore() : try SQLiteCloudStore(path: folder.file("store.db"))
        let cloud = TestService(store: store, seed: seed)
        let random = SeededRandomSource(seed: seed)
        try cloud.zones(.create)
        try cloud.zones(.create, token: "bob")
        try cloud.modify([operation(.create, "secret")], token: "bob")
        let valid = try Self.valid(cloud)
        for request in valid {
            let response = cloud.service.respond(
                to: cloud.request(request.endpoint, Array(request.body.utf8)))
            #expect(response.status == 200, "\(request): \(String(decoding: response.body, as: UTF8.self))")
        }
        var statuses: [Int: Int] = [:]
        for _ in 0..<300 {
            let (endpoint, text) = { ($0.endpoint, $0.body) }(valid[random.next(in: 0..<valid.count)])
            let body = Self.mutated(text, random)
            let database = ["private", "private", "private", "public", "shared"][random.next(in: 0..<5)]
            let response = cloud.service.respond(
                to: cloud.request(endpoint, body, database: database, extras: random.next(in: 0..<2) == 0))
            statuses[response.status, default: 0] += 1
            let context = "seed \(seed), \(endpoint) \(String(decoding: body, as: UTF8.self))"
            let answer = try expectAnswer(response, context)
            #expect(!answer.contains("secret"), "\(context)")
        }
        #expect(statuses[200, default: 0] > 10 && statuses[400, default: 0] > 10, "seed \(seed): \(statuses)")
        try cloud.zones(.create)
        try cloud.modify([operation(.forceReplace, "last")])
        #expect(try cloud.lookup(["last"]).summaries == ["saved"], "seed \(seed)")
        #expect(try cloud.lookup(["secret"], token: "bob").summaries == ["saved"], "seed \(seed)")
        if let store = store as? SQLiteCloudStore { #expect(try store.integrityCheck() == []) }
    }

    /// Checks that the answer is JSON, and that what it calls an error is the client's and not the service's.
    private func expectAnswer(_ response: WireResponse, _ context: String) throws -> String {
        let text = String(decoding: response.body, as: UTF8.self)
        let json = try JSONSerialization.jsonObject(with: Data(response.body))
        let members = try #require(json as? [String: Any], "\(context): \(text)")
        #expect(response.status < 500 && !text.contains("INTERNAL_ERROR"), "\(context): \(text)")
        #expect((members["serverErrorCode"] == nil) == (response.status == 200), "\(context): \(text)")
        if response.status != 200 {
            let code = try WireError(json: response.body).serverErrorCode
            #expect(code.httpStatus == response.status, "\(context): \(text)")
        }
        return text
    }
}
