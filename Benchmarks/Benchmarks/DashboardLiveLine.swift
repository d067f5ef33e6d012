import Foundation

/// Apps' requests while ten administrators look at what happens now.
func dashboardLiveLine() -> Line {
    Line(name: "dashboard.live", unit: "1/s", bar: 0.95, roundsCount: 5) { try DashboardLiveRun(in: $0) }
}

/// How many saves and lookups apps get done a second beside ten live views, against the same without them.
private final class DashboardLiveRun: LineRun {
    private static let connectionsCount = 8
    private static let requestsCount = 6_000
    private static let namesCount = 200

    private let folder: DashboardFolder
    private let requests: LoadRequests

    init(in folder: URL) throws {
        let folder = try DashboardFolder(in: folder)
        self.folder = folder
        requests = LoadRequests(
            (0..<Self.namesCount).flatMap { number in
                [
                    folder.appRequest("records/modify", Self.save(number)),
                    folder.appRequest("records/lookup", #"{"records":[{"recordName":"live\#(number)"}]}"#),
                ]
            })
    }

    func ours() throws -> Double {
        let views = LiveViews(of: folder)
        defer { views.end() }
        return try folder.withWaitingDevices(rate)
    }

    func reference() throws -> Double { try folder.withWaitingDevices(rate) }

    func close() { folder.end() }

    private func rate() throws -> Double {
        let result = try Load.run(
            requests, port: folder.port, connections: Self.connectionsCount, total: Self.requestsCount)
        return Double(Self.requestsCount) / result.seconds
    }

    private static func save(_ number: Int) -> String {
        #"{"operations":[{"operationType":"forceUpdate","record":{"recordName":"live\#(number)","#
            + #""recordType":"Note","fields":{"rank":{"value":\#(number)}}}}]}"#
    }
}

/// Ten pages that ask once a second what is new, each as an administrator of its own, until they are told to end.
private final class LiveViews: @unchecked Sendable {
    // Sendable because `isEnding` is touched only under the lock, and the rest never changes.
    private static let viewsCount = 10

    private let lock = NSCondition()
    private var isEnding = false
    private let ended = DispatchSemaphore(value: 0)

    @MainActor init(of folder: DashboardFolder) {
        let port = folder.port
        let place = "container=\(ServiceRequests.container)&environment=development"
        let now = Int(Date().timeIntervalSince1970)
        let requests = LoadRequests(
            (0..<Self.viewsCount).flatMap { _ in
                // The chart's next points, and the log's newest lines.
                [folder.request("live?after=\(now)&\(place)"), folder.request("requests?limit=50&\(place)")]
            })
        let begun = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [self] in
            repeat {
                _ = try? Load.run(
                    requests, port: port, connections: Self.viewsCount, total: 2 * Self.viewsCount)
                begun.signal()
            } while !waitForEnd()
            ended.signal()
        }
        begun.wait()
    }

    func end() {
        lock.lock()
        isEnding = true
        lock.signal()
        lock.unlock()
        ended.wait()
    }

    /// A second without an end is the pause between two polls.
    private func waitForEnd() -> Bool {
        lock.lock()
        defer { lock.unlock() }
        let next = Date().addingTimeInterval(1)
        while !isEnding, lock.wait(until: next) {}
        return isEnding
    }
}
