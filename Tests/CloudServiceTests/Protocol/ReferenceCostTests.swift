import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing

@testable import CloudService

/// What very many references cost the one writer.
@Suite struct ReferenceCostTests {
    let cloud = TestService()

    private func references(_ prefix: String, _ count: Int, _ action: Reference.Action) -> Field {
        Field(
            .list(
                .referenceList,
                (0..<count).map { .reference(Reference(recordName: "\(prefix)\($0)", action: action)) }))
    }

    @Test func aListOfReferencesMayBeReplacedByAnother() throws {
        try cloud.zones(.create)
        for prefix in ["a", "b"] {
            let fields = ["links": references(prefix, 4_900, .deleteSelf)]
            #expect(try cloud.modify([operation(.forceUpdate, "list", fields)]).summaries == ["saved"])
        }
    }

    /// Each record needs the next, and the last needs one that isn't there: all fail, one after another.
    @Test func aChainOfFailuresCostsWhatItIsLong() throws {
        try cloud.zones(.create)
        let count = 400
        let targets = ["a", "b"].map { references($0, 3_000, .deleteSelf) }
        var operations = (0..<count).map { number in
            let next = number + 1 < count ? "r\(number + 1)" : "nowhere"
            return operation(.create, "r\(number)", ["next": reference(next, .validate)])
        }
        operations[0].record.fields["links"] = targets[0]
        operations[1].record.fields["links"] = targets[1]
        let results = try cloud.modify(operations, atomic: false)
        #expect(results.summaries == [String](repeating: "VALIDATING_REFERENCE_ERROR", count: count))
    }
}
