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
        #expect(response.status == scenario.status, "\(text)")
        for part in try scenario.contains.map({ try world.filled($0) }) {
            #expect(text.contains(part), "\(part) is not in \(text)")
        }
        for part in scenario.lacks { #expect(!text.contains(part), "\(part) is in \(text)") }
        let changes = ScenarioWorld.difference(before, try world.snapshot())
        let told = try scenario.changes.filter { !$0.hasPrefix("~zone:") }.map { try world.filled($0) }
        #expect(changes == told.sorted())
    }

    @Test func everyRowSaysWhatTheAnswerIs() {
        for scenario in Self.scenarios {
            #expect(scenario.status != 0 && !scenario.contains.isEmpty, "\(scenario.title)")
            // Who is refused, and what isn't done, says so by its code or in words.
            #expect(scenario.status == 200 || scenario.changes.isEmpty, "\(scenario.title)")
        }
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

    /// The codes of requests that fail as a whole, with Apple's status for each, and those of items in a 200.
    @Test func everyCodeIsInTheTableAsItComes() throws {
        var whole = Set<String>()
        var items = Set<String>()
        for scenario in Self.scenarios {
            let response = try ScenarioWorld(scenario.setting).respond(to: scenario)
            if response.status == 200 {
                let text = String(decoding: response.body, as: UTF8.self)
                for part in text.split(separator: "\"serverErrorCode\":\"").dropFirst() {
                    items.insert(String(part.prefix { $0 != "\"" }))
                }
            } else {
                whole.insert(
                    "\(response.status) \(try WireError(json: response.body).serverErrorCode.rawValue)")
            }
        }
        #expect(
            whole == [
                "400 ATOMIC_ERROR", "400 BAD_REQUEST", "401 AUTHENTICATION_FAILED", "403 ACCESS_DENIED",
                "404 NOT_FOUND", "404 ZONE_NOT_FOUND", "421 AUTHENTICATION_REQUIRED", "429 THROTTLED",
                "500 INTERNAL_ERROR", "503 TRY_AGAIN_LATER",
            ])
        #expect(
            items == [
                "ACCESS_DENIED", "ATOMIC_ERROR", "BAD_REQUEST", "CONFLICT", "EXISTS", "INTERNAL_ERROR",
                "NOT_FOUND", "QUOTA_EXCEEDED", "VALIDATING_REFERENCE_ERROR", "ZONE_NOT_FOUND",
            ])
    }

    @Test func everyRoleIsInTheTable() {
        #expect(Set(Self.scenarios.map(\.who)).isSuperset(of: ["nobody", "ada", "bob", "carol", "mallory"]))
    }
}
