import CloudServer
import CloudService
import CloudWire
import Foundation
import Testing

@Suite struct WalkTests {
    @Test func aRecordIsSavedAndFetchedOverHTTP() async throws {
        try await withServer { server in
            let phone = try RawDevice(port: server.port, token: "ada")
            try phone.makeZone("todos")
            let saved = try phone.modify(
                [RecordOperation(operationType: .create, record: RawDevice.record("a", 7))], zone: "todos")
            #expect(saved.status == 200)
            #expect(saved.header("Content-Type") == "application/json; charset=UTF-8")
            #expect(saved.header(WireHeader.protocolVersion) == "1")
            let laptop = try RawDevice(
                port: server.port, token: "ada", clientID: "laptop", wantsExtras: false)
            let page = try laptop.post(
                "private/changes/zone",
                ChangesZoneRequest(zones: [.init(zoneID: ZoneID(zoneName: "todos"))]))
            #expect(page.header(WireHeader.protocolVersion) == nil)
            #expect(page.text.contains(#""recordName":"a""#))
            #expect(page.text.contains(#""value":7"#))
            guard case .record(let record)? = try laptop.lookup(["a"], zone: "todos").first else {
                throw Failure("no record")
            }
            #expect(record.fields["number"]?.value == .int64(7))
            #expect(record.created?.deviceID == "phone")
        }
    }

    @Test func someEndpointsAreAskedForByGet() async throws {
        try await withServer { server in
            let connection = try RawConnection(port: server.port)
            let phone = try RawDevice(port: server.port, token: "ada")
            let caller = try connection.exchange("GET", phone.target("public/users/caller"))
            #expect(caller.status == 200)
            #expect(caller.text.contains("_ada"))
            #expect(try connection.exchange("GET", phone.target("private/zones/list")).status == 200)
            #expect(try connection.exchange("GET", phone.target("private/records/modify")).status == 400)
        }
    }

    @Test func whereNothingIsTheAnswerIsAnErrorInCloudKitsForm() async throws {
        try await withServer { server in
            let connection = try RawConnection(port: server.port)
            for target in ["/", "/database/2/x", "/yap/1/sign-in", "/yap/1/metrics", "/database/1/x"] {
                let response = try connection.exchange("GET", target)
                #expect(response.status == 404, "\(target)")
                let error = try WireError(json: response.body)
                #expect(error.serverErrorCode == .notFound)
                #expect(error.uuid == response.header("X-Apple-Request-UUID"))
            }
            let health = try connection.exchange("GET", "/yap/1/health")
            #expect(health.status == 200)
            #expect(health.text == #"{"status":"ok"}"#)
        }
    }

    @Test func aPageOfAnyOriginMayAsk() async throws {
        try await withServer { server in
            let connection = try RawConnection(port: server.port)
            let phone = try RawDevice(port: server.port, token: "ada")
            let origin = (name: "Origin", value: "https://app.example.com")
            let simple = try connection.exchange(
                "POST", phone.target("private/zones/list"),
                headers: [origin, ("Content-Type", "text/plain")], body: Array("{}".utf8))
            #expect(simple.status == 200)
            #expect(simple.header("Access-Control-Allow-Origin") == origin.value)
            #expect(simple.header("Access-Control-Allow-Credentials") == "true")
            #expect(simple.header("Access-Control-Expose-Headers")?.contains("X-Apple-Request-UUID") == true)
            #expect(simple.header("Vary") == "Origin")
            let refused = try connection.exchange(
                "POST", "/database/1/other/development/private/zones/list", headers: [origin], body: [])
            #expect(refused.status == 404)
            #expect(refused.header("Access-Control-Allow-Origin") == origin.value)
            let preflight = try connection.exchange(
                "OPTIONS", phone.target("private/zones/list"),
                headers: [
                    origin, ("Access-Control-Request-Method", "POST"),
                    ("Access-Control-Request-Headers", "content-type,x-yap-client"),
                ])
            #expect(preflight.status == 204)
            #expect(preflight.header("Access-Control-Allow-Headers") == "content-type,x-yap-client")
            #expect(preflight.header("Access-Control-Allow-Methods")?.contains("POST") == true)
            let plain = try connection.exchange("POST", phone.target("private/zones/list"), body: [])
            #expect(plain.header("Access-Control-Allow-Origin") == nil)
            let own = try connection.exchange("GET", "/yap/1/health", headers: [origin])
            #expect(own.header("Access-Control-Allow-Origin") == nil)
        }
    }

    @Test func theLogHasALineForEachReplyAndNoSecret() async throws {
        try await withServer { server in
            let phone = try RawDevice(port: server.port, token: "ada")
            let good = try phone.post("private/zones/list", ZonesListRequest())
            let id = try #require(good.header("X-Apple-Request-UUID"))
            let line = try server.log.line(id: id)
            #expect(line["status"] as? Int == 200)
            #expect(line["operation"] as? String == "zones/list")
            #expect(line["container"] as? String == RawDevice.container)
            #expect(line["client"] as? String == "phone")
            #expect(line["user"] as? String == "_ada")
            #expect(line["bytesIn"] as? Int == 2)
            #expect((line["bytesOut"] as? Int ?? 0) > good.body.count)
            let stranger = try RawDevice(port: server.port, token: "a-stolen-token")
            let bad = try stranger.post("private/zones/list", ZonesListRequest())
            #expect(bad.status == 401)
            let badID = try #require(bad.header("X-Apple-Request-UUID"))
            #expect(try server.log.line(id: badID)["error"] as? String == "AUTHENTICATION_FAILED")
            #expect(!"\(try server.log.lines())".contains("a-stolen-token"))
        }
    }

    @Test func aBodyBeyondTheLimitIsRefusedBeforeItIsRead() async throws {
        try await withServer { server in
            let phone = try RawDevice(port: server.port, token: "ada")
            let connection = try RawConnection(port: server.port)
            try connection.send(
                "POST \(phone.target("private/records/modify")) HTTP/1.1\r\nHost: x\r\n"
                    + "X-Yap-Client: 1\r\nContent-Length: 2147483648\r\n\r\n{")
            let response = try connection.receive()
            #expect(response.status == 400)
            #expect(try WireError(json: response.body).ckErrorCode == 27)
        }
    }
}
