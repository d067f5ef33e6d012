import CloudService
import CloudWire
import Foundation
import Testing

@testable import CloudService

/// The table of requests: what each endpoint answers to whom, and what changes.
@Suite struct ScenarioTests {
    static let scenarios =
        Scenario.read(RecordScenarios.text) + Scenario.read(ZoneScenarios.text)
        + Scenario.read(OtherScenarios.text)

    @Test(arguments: scenarios) func theAnswerIsAsTheTableSays(_ scenario: Scenario) throws {
        let world = try ScenarioWorld(scenario.setting)
        let before = try world.snapshot()
        let response = try world.respond(to: scenario)
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == scenario.status || scenario.status == 0, "\(text)")
        for part in scenario.contains { #expect(text.contains(part), "\(part) is not in \(text)") }
        for part in scenario.lacks { #expect(!text.contains(part), "\(part) is in \(text)") }
        let changes = ScenarioWorld.difference(before, try world.snapshot())
        #expect(changes == scenario.changes.filter { !$0.hasPrefix("~zone:") })
    }

    /// The form of every answer: what a strict client of Apple's would refuse is in none.
    @Test func answersToStrangersHaveApplesKeysOnly() throws {
        for scenario in Self.scenarios {
            let response = try ScenarioWorld(scenario.setting).respond(to: scenario)
            let json = try JSONSerialization.jsonObject(with: Data(response.body))
            let endpoint = "\(scenario.endpoint)"
            let unknown =
                response.status == 200
                ? AnswerKeys.unknown(in: json, as: "answer \(endpoint)")
                : AnswerKeys.unknown(in: json, as: "request error")
            #expect(unknown == [], "\(scenario.title): \(String(decoding: response.body, as: UTF8.self))")
        }
    }

    @Test func eachRecordHasTheKeysThatAreAlwaysThere() throws {
        var count = 0
        for scenario in Self.scenarios {
            let response = try ScenarioWorld(scenario.setting).respond(to: scenario)
            let json = try JSONSerialization.jsonObject(with: Data(response.body))
            for record in AnswerKeys.records(in: json) {
                count += 1
                #expect(AnswerKeys.missing(inRecord: record) == [], "\(scenario.title)")
            }
        }
        #expect(count >= 15)
    }

    @Test func everyEndpointIsInTheTable() {
        let asked = Set(Self.scenarios.map(\.endpoint))
        #expect(Endpoint.allCases.map(\.rawValue).filter { !asked.contains($0) } == [])
    }

    /// A code that no answer of the service can have is named here, with where it comes from.
    private static let codesElsewhere = [
        "UNIQUE_FIELD_ERROR: no field is unique", "ZONE_BUSY: no zone is ever busy",
        "SERVER_RECORD_CHANGED: a code of Apple's own services",
        "THROTTLED: the server in front counts requests, RateLimitTests",
    ]

    @Test func everyErrorCodeIsInTheTable() {
        let text = Self.scenarios.flatMap(\.contains).joined(separator: "\n")
        let codes: [ServerErrorCode] = [
            .accessDenied, .atomicError, .authenticationFailed, .authenticationRequired, .badRequest,
            .conflict,
            .exists, .internalError, .notFound, .quotaExceeded, .throttled, .tryAgainLater,
            .validatingReferenceError, .zoneNotFound, .uniqueFieldError, .zoneBusy, .serverRecordChanged,
        ]
        let missing = codes.map(\.rawValue).filter { code in
            !text.contains(code) && !Self.codesElsewhere.contains { $0.hasPrefix("\(code):") }
        }
        #expect(missing == [])
    }

    @Test func everyRoleIsInTheTable() {
        #expect(Set(Self.scenarios.map(\.who)).isSuperset(of: ["nobody", "ada", "bob", "carol", "mallory"]))
    }
}
