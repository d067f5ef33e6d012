import CloudStore
import CloudWire
import Dispatch
import System
import Testing

@testable import CloudServer
@testable import CloudService

@Suite struct OperatorSchemaTests {
    private static let development = "\(RawDevice.container)/development/schema"
    private static let difference = "\(RawDevice.container)/schema/difference"
    private static let deploy = "\(RawDevice.container)/schema/deploy"
    private static let addNote =
        #"{"operations":[{"op":"addType","recordType":"Note"},"#
        + #"{"op":"addField","recordType":"Note","field":"title","type":"STRING"},"#
        + #"{"op":"setIndex","recordType":"Note","field":"title","kind":"QUERYABLE","isOn":true}]}"#

    private static func plan(_ client: OperatorClient) throws -> String {
        let response = try client.get(difference)
        guard case .object(let members) = try JSONValue(json: response.body),
            case .string(let plan)? = members["plan"]
        else { throw Failure("no plan: \(response.text)") }
        return plan
    }

    private static func save(_ name: String, _ fields: String = "{}") -> String {
        #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"\#(name)","#
            + #""recordType":"Note","fields":\#(fields)}}]}"#
    }

    @Test func aDeployIsSeenByAnAppsNextRequest() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let device = try RawConnection(port: guarded.server.port)
            func query() throws -> RawResponse {
                try device.exchange(
                    "POST",
                    guarded.target(
                        "public/records/query", apiToken: guarded.openToken, environment: "production"),
                    body: Array(#"{"query":{"recordType":"Note"}}"#.utf8))
            }
            #expect(try query().text.contains("Note"), "no such type")
            let changed = try client.post("\(Self.development)/change", Self.addNote)
            #expect(changed.status == 200, "\(changed.text)")
            #expect(changed.text.contains(#""text":"+ field Note.title: STRING""#))
            let seen = try client.get(Self.difference).text
            #expect(seen.contains(#""recordsToRead":0"#) && seen.contains(#""refusals":[]"#))
            let plan = try Self.plan(client)
            let deployed = try client.post(Self.deploy, #"{"remove":false,"plan":"\#(plan)"}"#)
            #expect(
                deployed.status == 200 && deployed.text.contains("+ record type Note"), "\(deployed.text)")
            #expect(try query().text == #"{"records":[]}"#)
            let line = try #require(try guarded.control.auditLog.lines(linesMax: 1).first)
            #expect(
                line.action == .schemaDeployed && line.outcome == .done && line.environment == "production")
            #expect(line.note?.contains("+ record type Note") == true)
        }
    }

    @Test func aPlanThatIsAnotherOneByNowIsNotDeployed() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            let plan = try Self.plan(client)
            _ = try client.post("\(Self.development)/change", Self.addNote)
            let refused = try client.post(Self.deploy, #"{"plan":"\#(plan)"}"#)
            #expect(refused.status == 409, "\(refused.text)")
            let line = try #require(try guarded.control.auditLog.lines(linesMax: 1).first)
            #expect(line.outcome == .refused && line.note == "CONFLICT")
            let current = try Self.plan(client)
            #expect(try client.post(Self.deploy, #"{"remove":true,"plan":"\#(current)"}"#).status == 409)
            #expect(try client.post(Self.deploy, #"{"plan":"\#(current)"}"#).status == 200)
            // Production isn't what it was.
            #expect(try client.post(Self.deploy, #"{"plan":"\#(current)"}"#).status == 409)
        }
    }

    @Test func ofTwoDeploysAtOnceOneIsDone() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            _ = try client.post("\(Self.development)/change", Self.addNote)
            let body = #"{"plan":"\#(try Self.plan(client))"}"#
            let statuses = Lock<[Int]>([])
            let ended = DispatchGroup()
            for _ in 0..<2 {
                ended.enter()
                try SystemThread.detach(name: "deploy") {
                    let client = try? OperatorClient(guarded, role: .administer)
                    let status = try? client?.post(Self.deploy, body).status
                    statuses.withLock { $0.append(status ?? 0) }
                    ended.leave()
                }
            }
            ended.wait()
            #expect(statuses.withLock { $0.sorted() } == [200, 409])
            #expect(try client.get(Self.difference).text.contains(#""changes":[]"#))
        }
    }

    @Test func aTextIsCheckedWithItsPlaceAndItsLosses() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let wrong = try client.post(
                "\(Self.development)/check", #"{"text":"DEFINE SCHEMA\nRECORD TYPE ("}"#)
            #expect(wrong.status == 200 && wrong.text.contains(#""line":2"#), "\(wrong.text)")
            _ = try client.post(
                client.data("public", "records/modify"), Self.save("a", #"{"title":{"value":"x"}}"#))
            let gone = try client.post("\(Self.development)/check", #"{"text":"DEFINE SCHEMA"}"#)
            #expect(gone.text.contains("there are records of type 'Note', as a"), "\(gone.text)")
            #expect(gone.text.contains(#""action":"remove""#) && gone.text.contains(#""error":null"#))
            #expect(try guarded.control.auditLog.lines(linesMax: 9).map(\.action) == [.recordsChanged])
        }
    }

    @Test func anImportThatWouldLoseValuesIsRefusedWithTheReasons() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            _ = try client.post(
                client.data("public", "records/modify"), Self.save("a", #"{"title":{"value":"x"}}"#))
            let before = try client.get(Self.development).text
            for (text, status, reason) in [
                ("DEFINE SCHEMA", 409, "records of type 'Note'"),
                ("DEFINE SCHEMA RECORD TYPE Note (title INT64);", 409, "has values, as in a"),
                ("no schema", 400, "line 1, column 1"),
            ] {
                let response = try client.post("\(Self.development)/import", #"{"text":"\#(text)"}"#)
                #expect(response.status == status && response.text.contains(reason), "\(response.text)")
            }
            #expect(try client.get(Self.development).text == before)
            let more = #"{"text":"DEFINE SCHEMA RECORD TYPE Note (title STRING, more INT64 SORTABLE);"}"#
            let imported = try client.post("\(Self.development)/import", more)
            #expect(
                imported.status == 200 && imported.text.contains("+ field Note.more: INT64"),
                "\(imported.text)")
            let outcomes = try guarded.control.auditLog.lines(linesMax: 4).map(\.outcome)
            #expect(outcomes == [.done, .refused, .refused, .refused])
        }
    }

    @Test func whatProductionHasStaysInDevelopment() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            _ = try client.post("\(Self.development)/change", Self.addNote)
            _ = try client.post(Self.deploy, #"{"plan":"\#(try Self.plan(client))"}"#)
            let delete = #"{"operations":[{"op":"deleteType","recordType":"Note"}]}"#
            let refused = try client.post("\(Self.development)/change", delete)
            #expect(
                refused.status == 409 && refused.text.contains("production would lose"), "\(refused.text)")
            let off =
                #"{"operations":[{"op":"setIndex","recordType":"Note","field":"title","kind":"QUERYABLE","#
                + #""isOn":false}]}"#
            #expect(try client.post("\(Self.development)/change", off).status == 200)
            #expect(try client.get(Self.difference).text.contains(#""kept":[{"#))
            #expect(try client.get("\(Self.difference)?remove=1").text.contains(#""action":"remove""#))
        }
    }

    @Test(arguments: [
        (#"{"op":"addType","recordType":"Users"}"#, 409), (#"{"op":"deleteType","recordType":"Users"}"#, 409),
        (#"{"op":"deleteType","recordType":"None"}"#, 409), (#"{"op":"nothing"}"#, 400), ("7", 400),
        (#"{"op":"addField","recordType":"Users","field":"x","type":"TEXT"}"#, 400),
        (#"{"op":"addField","recordType":"Users","field":"x","type":"LIST<LIST<STRING>>"}"#, 400),
        (#"{"op":"addField","recordType":"Users","field":"x","type":"ASSET","isEncrypted":true}"#, 400),
        (#"{"op":"addField","recordType":"Users","field":"___etag","type":"STRING"}"#, 409),
        (#"{"op":"addField","recordType":"Users","field":"roles","type":"STRING"}"#, 409),
        (#"{"op":"setIndex","recordType":"Users","field":"roles","kind":"SORTABLE","isOn":true}"#, 409),
        (#"{"op":"setIndex","recordType":"Users","field":"roles","kind":"FAST","isOn":true}"#, 400),
        (#"{"op":"addRole","role":"_world"}"#, 409), (#"{"op":"deleteRole","role":"_world"}"#, 409),
        (#"{"op":"setGrant","recordType":"Users","role":"nobody","permissions":["READ"]}"#, 409),
        (#"{"op":"setGrant","recordType":"Users","role":"_world","permissions":["ALL"]}"#, 400),
        (#"{"op":"addRole","role":"\#(String(repeating: "r", count: 300))"}"#, 409),
        (#"{"op":"addType","recordType":"a\u0000b"}"#, 409),
        (#"{"op":"addType","recordType":"a\"; DEFINE"}"#, 200),
    ])
    func anOperationIsDoneOrRefusedAndNothingInBetween(_ operation: String, _ status: Int) async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let before = try client.get(Self.development).text
            let body = #"{"operations":[{"op":"addRole","role":"editor"},\#(operation)]}"#
            let response = try client.post("\(Self.development)/change", body)
            #expect(response.status == status, "\(operation): \(response.text)")
            let after = try client.get(Self.development).text
            #expect((after == before) == (status != 200), "\(operation)")
            if status == 200 { #expect(after.contains(#""roles":["editor"]"#)) }
        }
    }

    @Test func onlySoManyOperationsAreInARequest() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            func body(_ count: Int) -> String {
                let operations = (0..<count).map { #"{"op":"addType","recordType":"T\#($0)"}"# }
                return #"{"operations":[\#(operations.joined(separator: ","))]}"#
            }
            #expect(try client.post("\(Self.development)/change", body(101)).status == 400)
            #expect(try client.post("\(Self.development)/change", body(100)).status == 200)
        }
    }

    @Test func rolesAndGrantsAreSetAndShown() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            let body =
                #"{"operations":[{"op":"addRole","role":"editor"},{"op":"addType","recordType":"Note"},"#
                + #"{"op":"setGrant","recordType":"Note","role":"editor","permissions":["WRITE","CREATE"]},"#
                + #"{"op":"setGrant","recordType":"Note","role":"_world","permissions":[]}]}"#
            #expect(try client.post("\(Self.development)/change", body).status == 200)
            let shown = try client.get(Self.development).text
            #expect(shown.contains(#"{"permissions":["CREATE","WRITE"],"role":"editor"}"#), "\(shown)")
            #expect(shown.contains(#"{"permissions":[],"role":"_world"}"#))
            let delete = #"{"operations":[{"op":"deleteRole","role":"editor"}]}"#
            #expect(try client.post("\(Self.development)/change", delete).status == 200)
            #expect(try !client.get(Self.development).text.contains("editor"))
        }
    }

    @Test func aResetNeedsTheNameTypedAndLeavesNoRecord() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .administer)
            _ = try client.post(client.data("public", "records/modify"), Self.save("a"))
            let other = #"{"container":"iCloud.com.example.other"}"#
            #expect(try client.post("\(Self.development)/reset", other).status == 400)
            let counts = "\(RawDevice.container)/development/counts"
            #expect(try client.get(counts).text.contains(#""count":1"#))
            let name = #"{"container":"\#(RawDevice.container)"}"#
            let reset = try client.post("\(Self.development)/reset", name)
            #expect(reset.status == 200 && reset.text.contains("- record type Note"), "\(reset.text)")
            #expect(try client.get(counts).text == #"{"isCapped":false,"zones":[]}"#)
            #expect(try client.post("\(RawDevice.container)/production/schema/reset", name).status == 404)
        }
    }

    @Test func indexesAreCountedUpToABound() async throws {
        try await withGuardedServer { guarded in
            let client = try OperatorClient(guarded, role: .change)
            for name in ["a", "b", "c"] {
                _ = try client.post(
                    client.data("public", "records/modify"),
                    Self.save(name, #"{"title":{"value":"two words"},"number":{"value":7}}"#))
            }
            let indexes = try client.get("\(Self.development)/indexes").text
            func entry(_ field: String, _ kind: String, _ count: Int, _ isSystem: Bool) -> String {
                #"{"entriesCount":\#(count),"field":"\#(field)","isBeingBuilt":false,"isCapped":false,"#
                    + #""isSystemField":\#(isSystem),"kind":"\#(kind)","recordType":"Note"}"#
            }
            for line in [
                entry("title", "SEARCHABLE", 6, false), entry("title", "QUERYABLE", 3, false),
                entry("number", "SORTABLE", 3, false), entry("___recordID", "QUERYABLE", 3, true),
            ] {
                #expect(indexes.contains(line), "\(line) in \(indexes)")
            }
            #expect(!indexes.contains("___share"))
            #expect(try client.get("\(Self.development)/indexes?recordType=None").text == #"{"indexes":[]}"#)
        }
    }
}
