import Foundation

/// Connections that do little and stay: idle ones, bodies and files a few bytes at a time; and questions that open
/// something, preflights and names of containers that aren't there.
struct ManyConnections: Attack {
    let name = "connections"
    private static let fileBytes = 2 << 20

    func prepare(_ abuser: Abuser) throws {
        let answer = try abuser.save(
            "assets/upload", #"{"tokens":[{"fieldName":"file","recordType":"File","recordName":"file"}]}"#)
        struct Places: Decodable {
            struct Place: Decodable { var url: String }
            var tokens: [Place]
        }
        let places = try JSONDecoder().decode(Places.self, from: Data(answer.body))
        guard let url = places.tokens.first?.url else { throw AbuseError("no address for a file") }
        let sent = try abuser.done(
            Requests.whole(
                "POST", Self.target(of: url), "", [UInt8](repeating: 7, count: Self.fileBytes),
                from: abuser.user), "upload")
        let file = try JSONSerialization.jsonObject(with: Data(sent.body)) as? [String: Any]
        let value = try JSONSerialization.data(withJSONObject: file?["singleFile"] ?? [:])
        let field = #"{"value":\#(String(decoding: value, as: UTF8.self)),"type":"ASSETID"}"#
        try abuser.save(
            "records/modify",
            Abuser.modify([
                #"{"operationType":"forceUpdate","record":{"recordName":"file","recordType":"File","#
                    + #""fields":{"file":\#(field)}}}"#
            ]))
    }

    func begin(_ abuser: Abuser) -> [Flood] {
        let requests = abuser.requests
        let slow = requests.database(
            "records/modify", String(repeating: " ", count: 100_000), from: abuser.user)
        let preflight = Requests.whole(
            "OPTIONS", "/database/1/\(Requests.container)/development/private/records/modify",
            "Origin: https://example.com\r\nAccess-Control-Request-Method: POST\r\n", from: abuser.stranger)
        var absent = 0
        var floods = [
            // A head that never ends: nothing is asked.
            Flood(abuser, connections: abuser.size.idleConnections) {
                Array("GET /health HTTP/1.1\r\n".utf8)
            },
            Flood(abuser, connections: 50, pace: .sending(bytesPerSecond: 100)) { slow },
            Flood(abuser, connections: 4) { preflight },
            Flood(abuser, connections: 4) {
                absent += 1
                return Requests.whole(
                    "POST", "/database/1/iCloud.absent\(absent)/development/public/records/query", "",
                    Array("{}".utf8), from: abuser.stranger)
            },
        ]
        if let file = try? Self.file(abuser) {
            floods.append(
                Flood(abuser, connections: 64, pace: .reading(bytesPerSecond: 2048)) {
                    Requests.whole("GET", file, from: abuser.stranger)
                })
        }
        return floods
    }

    /// Where the file is fetched.
    private static func file(_ abuser: Abuser) throws -> String? {
        let answer = try abuser.ask(
            abuser.requests.database(
                "records/lookup", #"{"records":[{"recordName":"file"}]}"#, from: abuser.user))
        let text = answer.text
        guard let start = text.range(of: #""downloadURL":""#) else { return nil }
        return target(of: String(text[start.upperBound...].prefix { $0 != "\"" }))
    }

    /// An address without its server.
    private static func target(of url: String) -> String {
        let text = url.replacingOccurrences(of: #"\/"#, with: "/").replacingOccurrences(of: "${f}", with: "f")
        guard let scheme = text.range(of: "://"),
            let slash = text[scheme.upperBound...].firstIndex(of: "/")
        else { return text }
        return String(text[slash...])
    }
}
