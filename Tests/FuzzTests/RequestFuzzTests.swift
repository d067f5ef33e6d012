import CloudService
import CloudWire
import Foundation
import RequestFuzz
import System
import TestSeed
import Testing

/// Right requests for every endpoint with hostile values in them. `Scripts/fuzz` runs many more of them.
@Suite struct RequestFuzzTests {
    static let seed = TestSeed.value
    static let requests =
        ProcessInfo.processInfo.environment["YAP_FUZZ_REQUESTS"].flatMap { Int($0) } ?? 600

    static func errors() throws -> DocumentedErrors {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = root.appending(path: "docs/PROTOCOL.md")
        return DocumentedErrors(page: try String(contentsOf: page, encoding: .utf8))
    }

    private func run(seed: UInt64, requests: Int) throws -> FuzzRun {
        var run = FuzzRun(
            seed: seed, world: try FuzzWorld(seed: seed), check: AnswerCheck(try Self.errors()))
        try run.run(requests: requests)
        return run
    }

    @Test func whateverIsAskedNothingBreaksAndOthersKeepWhatTheyHave() throws {
        print("requests: seed \(Self.seed)")
        let run = try run(seed: Self.seed, requests: Self.requests)
        #expect(run.findings == [], "seed \(Self.seed)")
        // What is hostile reaches further than the reading of the body.
        let answered = run.statuses[200, default: 0]
        #expect(
            answered > Self.requests / 5 && run.answered.count > 30,
            "\(run.statuses) \(run.answered.sorted())")
    }

    @Test func oneSeedSendsTheSameRequests() throws {
        let first = try run(seed: 5, requests: 300)
        #expect(try run(seed: 5, requests: 300).hash == first.hash)
        #expect(try run(seed: 6, requests: 300).hash != first.hash)
    }

    /// Endpoints that serve nothing yet.
    private static let notServed: Set<Endpoint> = [
        .recordsResolve, .recordsAccept, .recordsZipPrepare, .recordsCopyStart, .recordsCopyStatus,
    ]

    @Test(arguments: Endpoint.allCases) func theGeneratorKnowsARightRequest(of endpoint: Endpoint) throws {
        let row = EndpointRow.row(of: endpoint)
        for scope in row.isOfDevice ? [.private] : row.scopes where scope != .shared {
            let world = try FuzzWorld(seed: 1)
            // Now and then a token or a marker is one of another zone or query.
            let statuses = try (1...20).map { seed in
                let request = FuzzRun.rightRequest(of: endpoint, scope, seed: UInt64(seed), in: world)
                return try world.respond(to: request).status
            }
            if Self.notServed.contains(endpoint) {
                #expect(Set(statuses) == [400], "\(scope)")
            } else {
                #expect(statuses.count { $0 == 200 } >= 5, "\(scope): \(statuses)")
            }
        }
    }

    @Test func theCodesOfThePageAreThoseOfTheService() throws {
        let errors = try Self.errors()
        #expect(errors.statuses.count == 14)
        for (code, status) in errors.statuses {
            #expect(ServerErrorCode(rawValue: code).httpStatus == status, "\(code)")
        }
    }

    // MARK: - What is seen when a promise is broken

    private func findings(_ status: Int, _ body: String, allowsRates: Bool = false) throws -> [String] {
        let world = try FuzzWorld(seed: 1)
        let request = FuzzRun.rightRequest(of: .recordsLookup, .private, seed: 1, in: world)
        return AnswerCheck(try Self.errors()).findings(
            WireResponse(status: status, body: Array(body.utf8)), to: request, allowsRates: allowsRates
        ).findings
    }

    @Test func whatBreaksAPromiseIsFound() throws {
        let reason = #""reason":"x""#
        #expect(try findings(200, #"{"records":[]}"#) == [])
        #expect(try findings(400, #"{"serverErrorCode":"BAD_REQUEST",\#(reason)}"#) == [])
        #expect(try findings(429, #"{"serverErrorCode":"THROTTLED",\#(reason)}"#, allowsRates: true) == [])
        let broken = [
            (500, #"{"serverErrorCode":"INTERNAL_ERROR",\#(reason)}"#), (200, "{"), (200, "[]"),
            (503, #"{"serverErrorCode":"TRY_AGAIN_LATER",\#(reason)}"#),
            (404, #"{"serverErrorCode":"BAD_REQUEST",\#(reason)}"#),
            (429, #"{"serverErrorCode":"THROTTLED",\#(reason)}"#),
            (400, #"{"serverErrorCode":"MOOD",\#(reason)}"#),
            (200, #"{"records":[{"serverErrorCode":"MOOD"}]}"#),
            (200, #"{"records":[{"serverErrorCode":"INTERNAL_ERROR"}]}"#),
            (200, #"{"records":[{"value":"what Ada keeps to herself"}]}"#), (400, "{}"),
            (200, #"{"zones":["\#(String(repeating: "z", count: 2 << 20))"]}"#),
            (
                400,
                #"{"serverErrorCode":"BAD_REQUEST","reason":"\#(String(repeating: "z", count: 100_000))"}"#
            ),
        ]
        for (status, body) in broken {
            #expect(try findings(status, body) != [], "\(status) \(body.prefix(90))")
        }
    }

    private func modify(
        _ operation: String, as user: String, scope: String = "private", in world: FuzzWorld
    ) throws {
        let response = world.service.respond(
            to: WireRequest(
                path: "/database/1/\(FuzzWorld.container.identifier)/development/\(scope)/records/modify",
                query: [("ckWebAuthToken", user)], body: Array(#"{"operations":[\#(operation)]}"#.utf8)))
        try #require(response.status == 200)
    }

    /// The schema gets the field, and an index that has an entry for each record of the type.
    @Test func aFieldThatAnotherUsesFirstChangesNothingOfAdas() throws {
        let world = try FuzzWorld(seed: 1)
        let field = #""fields":{"first":{"value":"x"}}"#
        try modify(
            #"{"operationType":"create","record":{"recordName":"n","recordType":"post",\#(field)}}"#,
            as: "mallory", scope: "public", in: world)
        while try world.service.keepUp() {}
        #expect(try world.findings() == [])
    }

    @Test func whatIsNotAsItWasForAdaIsFound() throws {
        let world = try FuzzWorld(seed: 1)
        #expect(try world.findings() == [])
        try modify(#"{"operationType":"forceDelete","record":{"recordName":"a"}}"#, as: "ada", in: world)
        #expect(try world.findings() != [])
    }
}
