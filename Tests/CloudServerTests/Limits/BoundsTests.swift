import CloudStore
import CloudWire
import Testing
import UseCounter

@testable import CloudServer
@testable import CloudService

/// No request uses more than its row of `docs/LIMITS.md` says, and no row says a thousand times what is used.
@Suite struct BoundsTests {
    /// A cell of a row: what is used of what may be.
    private struct Cell {
        let name: String
        let used: Int
        let bound: Int

        var share: Double { bound == 0 ? 1 : Double(used) / Double(bound) }
    }

    /// Of a bound so much is used by the worst request, at least.
    private static let shareMin = 0.001

    private static func cells(_ use: Use, _ bounds: RequestBounds) -> [Cell] {
        let memory = Cell(name: "memory bytes", used: use.memoryBytes, bound: bounds.memoryBytes)
        return (UseCounter.countsMemory ? [memory] : []) + [
            Cell(name: "answer bytes", used: use.answerBytes, bound: bounds.answerBytes),
            Cell(name: "rows read", used: use.rowsRead, bound: bounds.rowsRead),
            Cell(name: "steps", used: use.steps, bound: bounds.steps),
            Cell(name: "rows written", used: use.rowsWritten, bound: bounds.rowsWritten),
            Cell(name: "disk bytes", used: use.diskBytes, bound: bounds.diskBytes),
        ]
    }

    @Test(arguments: Endpoint.allCases) func noRequestUsesMoreThanItsBounds(_ endpoint: Endpoint) throws {
        let row = EndpointRow.row(of: endpoint)
        let scope: DatabaseScope = row.scopes.contains(.private) || row.isOfDevice ? .private : .public
        let bounds = endpoint.bounds(.lowered)
        var most = Use()
        for one in WorstRequests.cases(endpoint) + WorstRequests.dense(endpoint, scope) {
            let cloud = try WalkedCloud()
            let request = try one.make(cloud)
            try #require(request.body.count <= cloud.limits.bodyBytesMax, "\(one.title)")
            let (use, _) = cloud.use(of: request)
            for cell in Self.cells(use, bounds) {
                #expect(cell.used <= cell.bound, "\(one.title): \(cell.name)")
            }
            most = most.max(use)
        }
        for cell in Self.cells(most, bounds) {
            let percent = (cell.share * 1_000).rounded() / 10
            print("\(endpoint.rawValue): \(cell.name) \(cell.used) of \(cell.bound), \(percent) %")
            // The accounts' file is not the store's, whose bytes are counted.
            guard endpoint != .usersDiscoverability || cell.name != "disk bytes" else { continue }
            #expect(cell.share >= Self.shareMin, "\(cell.name): nobody comes near the bound")
        }
    }
}
