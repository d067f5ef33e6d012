import CloudWire
import Testing

@testable import CloudService

/// What a request takes of memory while it waits.
@Suite struct RequestWeightTests {
    @Test func manySmallValuesWeighMoreThanTheirText() {
        let list = Array(("[" + Array(repeating: "1", count: 1_000).joined(separator: ",") + "]").utf8)
        #expect(RequestWeight.bytes(of: list) >= 999 * 40)
        let text = Array(#""\#(String(repeating: "x", count: 1_000))""#.utf8)
        #expect(RequestWeight.bytes(of: text) == text.count)
    }

    @Test func manyOperationsWeighWhatTheirRecordsTake() {
        let operation =
            #"{"operationType":"create","record":{"recordType":"A","fields":{"n":{"value":1}}}}"#
        let operations = Array(repeating: operation, count: 200).joined(separator: ",")
        let body = Array(#"{"operations":[\#(operations)]}"#.utf8)
        #expect(RequestWeight.bytes(of: body) >= 200 * 1_024)
        let braces = [UInt8](repeating: UInt8(ascii: "{"), count: 1_000)
        #expect(RequestWeight.bytes(of: braces) <= 50_000, "no message: it is refused as it is read")
    }

    @Test func keysThatARequestDoesNotKnowAreDropped() throws {
        let body =
            Array(
                #"{"zoneID":{"zoneName":"todos","junk":[1]},"junk":[{"":0}],"#.utf8)
            + Array(
                #""operations":[{"operationType":"create","record":{"recordName":"a","junk":{"b":[0]}}}]}"#
                    .utf8)
        let kept = try RecordsModifyRequest(json: body)
        let read = try RecordsModifyRequest(request: body)
        #expect(kept.unknown["junk"] != nil && kept.operations[0].record.unknown["junk"] != nil)
        #expect(read.unknown.isEmpty && read.operations[0].record.unknown.isEmpty)
        #expect(read.operations[0].record.recordName == "a" && read.zoneID?.zoneName == "todos")
    }

    @Test func whatIsDroppedMustBeJSONAllTheSame() {
        let body = Array(#"{"operations":[],"junk":[1,}"#.utf8)
        #expect(throws: JSONError.self) { try RecordsModifyRequest(request: body) }
    }
}
