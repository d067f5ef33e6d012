import CBenchmarks
import CloudWire
import Foundation

/// The courier of pushes.
func pushLines() -> [Line] {
    [
        Line(name: "service.push", unit: "us") { try PushRun(in: $0) },
        Line(name: "service.idle", unit: "bytes", roundsCount: 3) { try IdleRun(in: $0) },
    ]
}

/// The requests of a device that waits for pushes.
enum CourierRequests {
    static let subscribe = ServiceRequests.request(
        "subscriptions/modify",
        #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"all","#
            + #""subscriptionType":"database"}}]}"#)

    static func makeToken(device: String, token: String = ServiceRequests.token) -> [UInt8] {
        ServiceRequests.whole(
            "POST /device/1/\(ServiceRequests.container)/development/tokens/create?ckWebAuthToken="
                + "\(token)&clientId=\(device) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                + "Content-Type: application/json\r\n",
            #"{"apnsEnvironment":"development","clientId":"\#(device)"}"#)
    }

    /// The poll of the device whose token's answer this is.
    static func poll(_ answer: [UInt8]) throws -> [UInt8] {
        Array("GET \(try target(answer)) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
    }

    /// The path and query of that poll.
    static func target(_ answer: [UInt8]) throws -> String {
        let url = try TokensResponse(json: answer).webcourierURL
        guard let start = url.range(of: "/device/")?.lowerBound else {
            throw BenchError("no courier's URL: \(url)")
        }
        return String(url[start...])
    }
}

/// From the sending of one device's save to the other's notification, against one sync of the disk.
private final class PushRun: LineRun {
    private static let pushesCount = 100

    private let folder: URL
    private let cloud: CloudProcess
    private let requests = ServiceRequests(seed: 1)
    private let pollTarget: String
    private var saved: [UInt32] = []
    private var pushed: [UInt32] = []
    private var syncs: [SyncTimes] = []

    init(in folder: URL) throws {
        self.folder = folder
        let cloud = try CloudProcess(storePath: folder.appendingPathComponent("ours.sqlite").path)
        self.cloud = cloud
        do {
            try cloud.exchange(ServiceRequests.makeZone)
            let token = try cloud.exchange(CourierRequests.makeToken(device: "pad"))
            try cloud.exchange(CourierRequests.subscribe)
            pollTarget = try CourierRequests.target(token)
        } catch {
            cloud.end()
            throw error
        }
    }

    func ours() throws -> Double {
        let count = Self.pushesCount
        let saves = LoadRequests((0..<count).map { _ in requests.save(requests.names(1), device: "phone") })
        var saved = [UInt32](repeating: 0, count: count)
        var pushed = [UInt32](repeating: 0, count: count)
        var plan = probe_push_plan()
        plan.port = Int32(cloud.port)
        plan.count = count
        let code = pollTarget.withCString { target in
            plan.poll_target = target
            return run(&plan, saves, &saved, &pushed)
        }
        guard code == 0 else { throw BenchError(text(&plan.failure)) }
        self.saved += saved
        self.pushed += pushed
        return percentile(0.5, of: pushed)
    }

    private func run(
        _ plan: inout probe_push_plan, _ saves: LoadRequests, _ saved: inout [UInt32],
        _ pushed: inout [UInt32]
    ) -> Int32 {
        saves.requests.withUnsafeBufferPointer { saves in
            saved.withUnsafeMutableBufferPointer { saved in
                pushed.withUnsafeMutableBufferPointer { pushed in
                    plan.saves = saves.baseAddress
                    plan.saved = saved.baseAddress
                    plan.pushed = pushed.baseAddress
                    return probe_push(&plan)
                }
            }
        }
    }

    func reference() throws -> Double {
        let sync = try SyncTimes(in: folder, count: 200)
        syncs.append(sync)
        return sync.p50Microseconds
    }

    func remarks() -> [LineRemark] {
        let text = String(
            format: "from the save's sending: its answer p50 %.0f us, p99 %.0f us; the push p50 %.0f us, "
                + "p99 %.0f us; a sync p50 %.0f us, p99 %.0f us",
            percentile(0.5, of: saved), percentile(0.99, of: saved), percentile(0.5, of: pushed),
            percentile(0.99, of: pushed), LineResult.median(syncs.map(\.p50Microseconds)),
            LineResult.median(syncs.map(\.p99Microseconds)))
        return [LineRemark(text: text)]
    }

    func close() { cloud.end() }
}

/// What the server's process takes for each of many couriers that wait, against nginx with as many idle connections.
private final class IdleRun: LineRun {
    private static let couriersCount = 10_000
    /// A user may have no more.
    private static let devicesEach = 50

    private let folder: URL
    private let storePath: String
    private let polls: LoadRequests
    private let pings: LoadRequests

    init(in folder: URL) throws {
        self.folder = folder
        storePath = folder.appendingPathComponent("ours.sqlite").path
        let cloud = try CloudProcess(storePath: storePath)
        defer { cloud.end() }
        let make = (0..<Self.couriersCount).map { index in
            CourierRequests.makeToken(
                device: "device-\(index)", token: ServiceRequests.token(ofUser: index / Self.devicesEach))
        }
        let tokens = try Load.bodies(of: LoadRequests(make), port: cloud.port, connections: 64)
        polls = LoadRequests(try tokens.map(CourierRequests.poll))
        pings = LoadRequests([Nginx.request(0)])
    }

    func ours() throws -> Double {
        let cloud = try CloudProcess(storePath: storePath)
        defer { cloud.end() }
        return try bytesEach(polls.requests, port: cloud.port) { try cloud.process.residentBytes() }
    }

    func reference() throws -> Double {
        let nginx = try Nginx(folder: folder, content: [[0x20]], workersCount: ServiceLoad.workersCount)
        defer { nginx.end() }
        // Half a request keeps nginx waiting as a poll keeps us.
        var request = pings.requests[0]
        request.length -= 2
        let requests = [load_request](repeating: request, count: Self.couriersCount)
        return try bytesEach(requests, port: nginx.port) { try nginx.process.residentBytesWithChildren() }
    }

    private func bytesEach(
        _ requests: [load_request], port: Int, residentBytes: () throws -> Int
    ) throws -> Double {
        // A few first, so that what is made once isn't counted.
        try hold(Array(requests.prefix(50)), port: port) {}
        let before = try residentBytes()
        var after = 0
        try hold(requests, port: port) { after = try residentBytes() }
        return Double(after - before) / Double(requests.count)
    }

    private func hold(_ requests: [load_request], port: Int, _ body: () throws -> Void) throws {
        var connections = [Int32](repeating: -1, count: requests.count)
        let silent = probe_hold(Int32(port), requests, requests.count, 500, &connections)
        defer { probe_release(connections, connections.count) }
        guard silent == requests.count else {
            throw BenchError("\(silent) of \(requests.count) connections were held (see `ulimit -n`)")
        }
        try body()
    }
}
