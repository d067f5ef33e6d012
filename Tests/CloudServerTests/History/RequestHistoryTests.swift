import CloudService
import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer

/// A server whose history can be waited for, and an app of Ada's.
struct HistoryScene {
    let guarded: GuardedServer
    let app: RawConnection
    let client: OperatorClient

    init(_ guarded: GuardedServer, role: AdministratorRole = .look) throws {
        self.guarded = guarded
        app = try RawConnection(port: guarded.server.port)
        client = try OperatorClient(guarded, role: role)
    }

    /// Asks as the app does; returns the answer with its id.
    func ask(
        _ path: String, _ body: String, environment: String = "development"
    ) throws -> (response: RawResponse, id: String) {
        let response = try app.exchange(
            "POST",
            guarded.target(
                path, apiToken: guarded.openToken, session: guarded.session, environment: environment),
            headers: [("User-Agent", "Notes/1.0")], body: Array(body.utf8))
        return (response, try #require(response.header("X-Apple-Request-UUID")))
    }

    func get(_ path: String) throws -> JSONValue {
        _ = try app.exchange("GET", "/health/live")
        try client.waitForSummaries()
        guarded.server.settleHistory()
        let response = try client.get(path)
        try #require(response.status == 200, "\(path): \(response.text)")
        return try JSONValue(json: response.body)
    }

    func requests(_ query: String = "") throws -> [JSONValue] {
        try get("requests?\(query)")["requests"].array
    }

    /// A save of a note; with `fields` in JSON.
    static func save(
        _ name: String, _ fields: String = #""text":{"value":"hello"}"#, zone: String? = nil,
        type: String = "forceUpdate"
    ) -> String {
        let zone = zone.map { #","zoneID":{"zoneName":"\#($0)"}"# } ?? ""
        return #"{"operations":[{"operationType":"\#(type)","record":{"recordName":"\#(name)","#
            + #""recordType":"Note","fields":{\#(fields)}}}]\#(zone)}"#
    }

    static func makeZone(_ name: String) -> String {
        #"{"operations":[{"operationType":"create","zone":{"zoneID":{"zoneName":"\#(name)"}}}]}"#
    }
}

extension JSONValue {
    subscript(_ name: String) -> JSONValue {
        if case .object(let members) = self { members[name] ?? .null } else { .null }
    }
    var array: [JSONValue] { if case .array(let values) = self { values } else { [] } }
    var text: String? { if case .string(let text) = self { text } else { nil } }
    var number: Int64? { if case .integer(let number) = self { number } else { nil } }
}

@Suite struct RequestHistoryTests {
    @Test func anAppsFailedSaveIsFoundByItsIDWithItsRecordsAndReason() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            _ = try scene.ask(
                "private/records/modify", HistoryScene.save("a", zone: "Work", type: "create"))
            let (response, id) = try scene.ask(
                "private/records/modify", HistoryScene.save("a", zone: "Work", type: "create"))
            #expect(response.text.contains("CONFLICT"))
            let found = try scene.get("requests/\(id)")
            let request = found["request"]
            #expect(
                request["operation"].text == "records/modify" && request["zones"].array == [.string("Work")])
            #expect(request["recordErrors"]["CONFLICT"].number == 1 && request["status"].number == 200)
            #expect(request["user"].text == (try scene.client.ada) && request["client"].text == "Notes/1.0")
            let session = try #require(try guarded.control.sessions.list().first?.id)
            #expect(request["session"].text == session)
            let record = try #require(request["records"].array.first)
            #expect(record["name"].text == "a" && record["zone"].text == "Work")
            #expect(record["operation"].text == "create" && record["recordType"].text == "Note")
            #expect(record["outcome"].text == "CONFLICT")
            #expect(record["reason"].text == "record to insert already exists")
            #expect(found["before"].array.count == 2 && found["after"].array.isEmpty)
            #expect(try scene.client.get("requests/nothing").status == 404)
        }
    }

    @Test func aRequestThatFailedAsAWholeIsFoundWithItsReason() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            let (response, id) = try scene.ask(
                "private/records/query", #"{"query":{"recordType":"Nothing"}}"#)
            #expect(response.status == 404)
            let request = try scene.get("requests/\(id)")["request"]
            #expect(request["code"].text == "NOT_FOUND")
            #expect(request["reason"].text == "Did not find record type: Nothing")
            #expect(request["query"]["recordType"].text == "Nothing")
        }
    }

    @Test func filtersFindWhatTheyName() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/zones/modify", HistoryScene.makeZone("Work"))
            _ = try scene.ask("private/records/modify", HistoryScene.save("a", zone: "Work"))
            let (_, failed) = try scene.ask(
                "private/records/modify", HistoryScene.save("a", zone: "Work", type: "create"))
            _ = try scene.ask("private/records/lookup", #"{"records":[{"recordName":"x"}]}"#)
            let ada = try scene.client.ada
            let session = try #require(try guarded.control.sessions.list().first?.id)
            #expect(try scene.requests().count == 4)
            let ofZone = try scene.requests("zone=Work").map { $0["operation"].text }
            #expect(ofZone == ["records/modify", "records/modify", "zones/modify"])
            #expect(try scene.requests("code=CONFLICT").map { $0["id"].text } == [failed])
            #expect(try scene.requests("operation=records/modify&user=\(ada)").count == 2)
            #expect(try scene.requests("session=\(session)&limit=3").count == 3)
            #expect(try scene.requests("id=\(failed)").count == 1)
            #expect(try scene.requests("user=_nobody").isEmpty)
            #expect(try scene.requests("container=\(RawDevice.container)&environment=development").count == 4)
            #expect(try scene.requests("container=other&environment=development").isEmpty)
            #expect(try scene.requests("slow=60000").isEmpty)
            let page = try scene.get("requests?limit=3")
            let before = try #require(page["before"].number)
            #expect(try scene.requests("before=\(before)").count == 1)
            let newest = try #require(page["newest"].number)
            #expect(try scene.requests("after=\(newest)").isEmpty)
            #expect(try scene.requests("after=\(newest - 1)").count == 1)
        }
    }

    @Test func operatorsHealthAndEmptyPollsAreNotKept() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.client.get("containers")
            _ = try scene.app.exchange("GET", "/health")
            _ = try scene.app.exchange("GET", "/dashboard")
            #expect(try scene.requests().isEmpty)
        }
    }

    @Test func whatIsTurnedOffKeepsNothingAndSaysSo() async throws {
        try await withGuardedServer(configure: { $0.history.requests = .off }) { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/zones/list", "{}")
            let response = try scene.client.get("requests")
            #expect(response.status == 404 && response.text.contains("--history"))
            #expect(!StoreFile.exists(at: DataFolder(path: guarded.folder.path).historyPath))
        }
    }

    @Test func theLineOfTheLastHourCountsRequestsErrorsAndTimes() async throws {
        try await withGuardedServer { guarded in
            let scene = try HistoryScene(guarded)
            _ = try scene.ask("private/zones/list", "{}")
            _ = try scene.ask("private/records/query", #"{"query":{"recordType":"Nothing"}}"#)
            for place in ["", "?container=\(RawDevice.container)&environment=development"] {
                let live = try scene.get("live\(place)")
                let points = live["points"].array
                #expect(points.reduce(0) { $0 + ($1["requests"].number ?? 0) } == 2)
                #expect(points.reduce(0) { $0 + ($1["errors"].number ?? 0) } == 1)
                #expect(points.allSatisfy { $0["milliseconds99"].number != nil })
                #expect(live["codes"].array.first?["code"].text == "NOT_FOUND")
                #expect(live["operations"].array.count == 2)
                #expect(live["gauges"]["connections"].number ?? 0 > 0)
                let second = try #require(points.last?["second"].number)
                let joined = place.isEmpty ? "?" : "\(place)&"
                #expect(try scene.get("live\(joined)after=\(second)")["points"].array.isEmpty)
                #expect(try scene.get("live/hours\(place)")["points"].array.last?["requests"].number != nil)
            }
            #expect(
                try scene.get("live?container=other&environment=production")["points"].array.isEmpty)
        }
    }
}
