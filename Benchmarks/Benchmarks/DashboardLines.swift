import Foundation

/// The dashboard on a large server: 1,000,000 records in a zone, 10,000 accounts, 1,000 devices that wait.
func dashboardLines() -> [Line] {
    [
        Line(name: "dashboard.page", unit: "1/s", bar: 0.5, roundsCount: 3) { try DashboardPageRun(in: $0) },
        dashboardLiveLine(),
    ]
}

/// The inverse of the median time of a page of records that an administrator asks for, against that of the same page
/// that the user's app asks for; and how long each page's requests take.
private final class DashboardPageRun: LineRun {
    private static let requestsCount = 100
    private static let millisecondsMax = 100.0

    private let folder: DashboardFolder
    private var pages: [(name: String, seconds: [Double])] = []

    init(in folder: URL) throws {
        self.folder = try DashboardFolder(in: folder)
    }

    func ours() throws -> Double { try folder.withWaitingDevices(page) }

    func reference() throws -> Double { try folder.withWaitingDevices(appPage) }

    private func page() throws -> Double {
        let place = "\(ServiceRequests.container)/development"
        let query = "\(place)/private/records/query?user=\(folder.user)"
        let rank = DashboardFolder.recordsCount / 4
        let all: [(name: String, path: String, body: String?)] = [
            ("records", query, Self.body()), ("records further on", query, Self.body(from: rank)),
            ("containers", "containers", nil),
            ("accounts", "\(ServiceRequests.container)/accounts?named=account9", nil),
            ("zones", "\(place)/private/zones/list?user=\(folder.user)", "{}"),
            ("schema", "\(place)/schema", nil),
        ]
        pages = try all.map { page in
            let requests = (0..<Self.requestsCount).map { _ in folder.request(page.path, body: page.body) }
            return (page.name, try Load.latencies(of: LoadRequests(requests), port: folder.port))
        }
        return 1 / pages[0].seconds[Self.requestsCount / 2]
    }

    private func appPage() throws -> Double {
        let requests = (0..<Self.requestsCount).map { _ in folder.appRequest("records/query", Self.body()) }
        let seconds = try Load.latencies(of: LoadRequests(requests), port: folder.port)
        return 1 / seconds[Self.requestsCount / 2]
    }

    func remarks() -> [LineRemark] {
        pages.map { page in
            let p50 = page.seconds[Self.requestsCount / 2] * 1000
            let p99 = page.seconds[Self.requestsCount * 99 / 100] * 1000
            let text = String(format: "p50 %.2f ms, p99 %.2f ms", p50, p99)
            return LineRemark(text: "\(page.name): \(text)", passes: p99 <= Self.millisecondsMax)
        }
    }

    func close() { folder.end() }

    /// The body of a request for 50 records, by rank.
    private static func body(from rank: Int = 0) -> String {
        #"{"query":{"recordType":"Note","filterBy":[{"comparator":"GREATER_THAN_OR_EQUALS","#
            + #""fieldName":"rank","fieldValue":{"value":\#(rank)}}],"sortBy":[{"fieldName":"rank"}]},"#
            + #""resultsLimit":50,"numbersAsStrings":true}"#
    }
}
