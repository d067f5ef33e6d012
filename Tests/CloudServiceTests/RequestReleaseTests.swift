import CloudWire
import Testing
import UseCounter

@testable import CloudService

/// A request's memory is released with its response, also in a server with a history, which traces each request.
@Suite struct RequestReleaseTests {
    private let text = String(repeating: "x", count: 4_000)

    private func traced(_ cloud: TestService, _ endpoint: String, _ body: [UInt8]) -> WireRequest {
        var request = cloud.request(endpoint, body)
        request.isTraced = true
        return request
    }

    private func saves(_ count: Int) throws -> [UInt8] {
        let operations = (0..<count).map { operation(.forceUpdate, "r\($0)", ["text": Field(.string(text))]) }
        return try RecordsModifyRequest(operations: operations, zoneID: TestService.zone).json(extras: true)
    }

    @Test(arguments: Endpoint.allCases) func aTraceIsReleasedWithItsRequest(_ endpoint: Endpoint) throws {
        let cloud = TestService()
        let zone = #""zoneID":{"zoneName":"todos"}"#
        let query = #"{"query":{"recordType":"todo"},\#(zone)}"#
        let texts: [Endpoint: String] = [
            .recordsQuery: query, .recordsQueryBatch: #"{"batch":[\#(query)]}"#,
            .recordsLookup: #"{"records":[{"recordName":"r0"}],\#(zone)}"#,
            .recordsChanges: "{\(zone)}", .changesZone: #"{"zones":[{\#(zone)}]}"#,
        ]
        var bodies = texts.mapValues { Array($0.utf8) }
        bodies[.recordsModify] = try saves(3)
        try cloud.zones(.create)
        #expect(cloud.service.respond(to: cloud.request("records/modify", try saves(3))).status == 200)
        let request = traced(cloud, endpoint.rawValue, bodies[endpoint] ?? Array("{}".utf8))
        weak var trace: RequestTrace?
        func respond() -> WireResponse {
            let prepared = cloud.service.prepare(request)
            trace = prepared.trace
            return cloud.service.responses.response(
                to: prepared, answer: prepared.work.answerAlone(in: cloud.service.store))
        }
        let response = respond()
        #expect(response.note.detail != nil, "it is traced")
        if bodies[endpoint] != nil { #expect(response.note.detail?.recordsCount ?? 0 > 0) }
        #expect(trace == nil)
    }

    @Test func savesKeepNoMemory() throws {
        guard UseCounter.countsMemory else { return }
        let cloud = TestService()
        try cloud.zones(.create)
        let body = try saves(20)
        let request = traced(cloud, "records/modify", body)
        func save() { #expect(cloud.service.respond(to: request).status == 200) }
        // Fills what is kept once: the schema, the rows.
        for _ in 0..<10 { save() }
        let (_, use) = UseCounter.counting { for _ in 0..<50 { save() } }
        #expect(use.keptBytes < body.count, "fifty requests keep less than one of them takes")
    }
}
