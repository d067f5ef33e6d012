import CloudStore
import CloudWire
import SQLiteTestSupport
import System
import Testing
import UseCounter

@testable import CloudService

/// What very many references cost the one writer.
@Suite struct ReferenceCostTests {
    private let folder: TemporaryFolder
    private let cloud: TestService

    init() throws {
        UseCounter.attach()
        folder = try TemporaryFolder()
        cloud = TestService(store: try SQLiteCloudStore(path: folder.file("store.db")))
    }

    private func references(_ prefix: String, _ count: Int, _ action: Reference.Action) -> Field {
        Field(
            .list(
                .referenceList,
                (0..<count).map { .reference(Reference(recordName: "\(prefix)\($0)", action: action)) }))
    }

    /// What a batch uses, and what it comes to.
    private func use(_ operations: [RecordOperation], summary: String) throws -> CountedUse {
        let (results, use) = try UseCounter.counting { try cloud.modify(operations, atomic: false) }
        #expect(results.summaries == [String](repeating: summary, count: operations.count))
        return use
    }

    /// A larger request uses in proportion to its size: each with each would use the square of it.
    private func expectProportion(_ factor: Int, _ small: CountedUse, _ large: CountedUse) {
        #expect(large.steps * 2 <= small.steps * factor * 3, "\(small) \(large)")
        guard UseCounter.countsMemory else { return }
        #expect(large.allocatedBytes * 2 <= small.allocatedBytes * factor * 3, "\(small) \(large)")
    }

    @Test func aListOfReferencesMayBeReplacedByAnother() throws {
        try cloud.zones(.create)
        let uses = try [700, 4_900].map { count in
            let lists = ["a", "b"].map { prefix in
                operation(.forceUpdate, "list \(count)", ["links": references(prefix, count, .deleteSelf)])
            }
            _ = try use([lists[0]], summary: "saved")
            return try use([lists[1]], summary: "saved")
        }
        expectProportion(7, uses[0], uses[1])
    }

    /// Each record needs the next, and the last needs one that isn't there: all fail, one after another.
    @Test func aChainOfFailuresCostsWhatItIsLong() throws {
        try cloud.zones(.create)
        let uses = try [100, 400].map { count in
            var operations = (0..<count).map { number in
                let next = number + 1 < count ? "r\(number + 1)" : "nowhere"
                return operation(.create, "r\(number)", ["next": reference(next, .validate)])
            }
            for (index, prefix) in ["a", "b"].enumerated() {
                operations[index].record.fields["links"] = references(prefix, count * 15 / 2, .deleteSelf)
            }
            return try use(operations, summary: "VALIDATING_REFERENCE_ERROR")
        }
        expectProportion(4, uses[0], uses[1])
    }
}
