import Foundation

/// The service on a port, over loopback.
func serviceLines() -> [Line] {
    [
        Line(name: "service.save.single", unit: "records/s") { try SaveRun.single(in: $0) },
        Line(name: "service.save.batch50", unit: "records/s", bar: 0.25) { try SaveRun.batches(in: $0) },
        Line(name: "service.save.indexed", unit: "records/s", bar: 0.25) {
            try SaveRun.batches(in: $0, isIndexed: true)
        },
        Line(name: "service.lookup", unit: "requests/s", bar: 0.2) { try FetchRun.lookups(in: $0) },
        Line(name: "service.changes.page200", unit: "MB/s", bar: 0.25) { try FetchRun.pages(in: $0) },
        Line(name: "service.firstsync", unit: "MB/s", roundsCount: 5) { try FetchRun.firstSync(in: $0) },
        Line(name: "service.start", unit: "starts/s") { StartRun($0) },
        floodLine(),
        queryLine(),
        indexedSaveLine(),
        signedLine(),
    ] + abuseLines() + pushLines() + sizeLines()
}

/// How the lines load the service.
enum ServiceLoad {
    static let workersCount = ProcessInfo.processInfo.activeProcessorCount
    static let refused = "serverErrorCode"
}

/// Saves on many connections, against C that writes the rows itself.
private final class SaveRun: LineRun {
    private static let requestsACommitMin = 8.0
    private static let roundsCountMax = 8

    private let folder: URL
    private let cloud: CloudProcess
    private let requests: LoadRequests
    private let connectionsCount: Int
    private let requestsCount: Int
    private let recordsARequest: Int
    private let isIndexed: Bool
    private let sync: SyncTimes
    private var round = 0
    private var requestsACommit: [Double] = []
    private var recordings: [Int: Recording] = [:]

    /// One record a request, against one record a commit.
    static func single(in folder: URL) throws -> SaveRun {
        try SaveRun(folder, connectionsCount: 64, requestsCount: 6_000, recordsARequest: 1)
    }

    /// Fifty records a request, against the service's own statements with as many requests a commit.
    static func batches(in folder: URL, isIndexed: Bool = false) throws -> SaveRun {
        try SaveRun(
            folder, connectionsCount: 16, requestsCount: 240, recordsARequest: 50, isIndexed: isIndexed)
    }

    private init(
        _ folder: URL, connectionsCount: Int, requestsCount: Int, recordsARequest: Int,
        isIndexed: Bool = false
    ) throws {
        self.folder = folder
        self.isIndexed = isIndexed
        self.connectionsCount = connectionsCount
        self.requestsCount = requestsCount
        self.recordsARequest = recordsARequest
        sync = try SyncTimes(in: folder)
        let path = folder.appendingPathComponent("ours.sqlite").path
        cloud = try CloudProcess(storePath: path, isIndexed: isIndexed)
        let source = ServiceRequests(seed: 1)
        requests = LoadRequests(
            (0..<requestsCount * Self.roundsCountMax).map { _ in source.save(source.names(recordsARequest)) })
        try cloud.exchange(ServiceRequests.makeZone)
    }

    func ours() throws -> Double {
        let before = try cloud.commitsCount()
        let range = round * requestsCount..<(round + 1) * requestsCount
        let result = try Load.run(
            requests, range, port: cloud.port, connections: connectionsCount, total: requestsCount,
            forbidding: ServiceLoad.refused)
        round += 1
        requestsACommit.append(Double(requestsCount) / Double(try cloud.commitsCount() - before))
        return Double(requestsCount * recordsARequest) / result.seconds
    }

    func reference() throws -> Double {
        if recordsARequest == 1 {
            return try recording(batchesCount: 2_000, groupCount: 50).oneACommit(in: folder)
        }
        let groupCount = Int(LineResult.median(requestsACommit).rounded())
        return try recording(batchesCount: requestsCount, groupCount: groupCount).together(in: folder)
    }

    func remarks() throws -> [LineRemark] {
        let requestsACommit = LineResult.median(requestsACommit)
        var text = String(format: "%.1f requests a commit", requestsACommit)
        guard recordsARequest == 1 else {
            return [LineRemark(text: text + ", as the reference's commits have")]
        }
        text += String(format: " (bar %.0f), a sync takes %@", Self.requestsACommitMin, sync.text)
        return [LineRemark(text: text, passes: requestsACommit >= Self.requestsACommitMin)]
    }

    func close() { cloud.end() }

    private func recording(batchesCount: Int, groupCount: Int) throws -> Recording {
        if let recording = recordings[groupCount] { return recording }
        let names = ServiceRequests(seed: 2).names(batchesCount * recordsARequest)
        let batches = (0..<batchesCount).map {
            Array(names[$0 * recordsARequest..<($0 + 1) * recordsARequest])
        }
        let recording = try Recording(batches, groupCount: groupCount, isIndexed: isIndexed, folder: folder)
        recordings[groupCount] = recording
        return recording
    }
}

/// The same requests again and again, against nginx with the answers in files.
private final class FetchRun: LineRun {
    private let cloud: CloudProcess
    private let nginx: Nginx
    private let ourRequests: LoadRequests
    private let nginxRequests: LoadRequests
    private let connectionsCount: Int
    private let requestsCount: Int
    private let countsBytes: Bool
    private let folder: URL
    private let answers: [[UInt8]]
    private var ourTimes: [Double] = []
    private var nginxTimes: [Double] = []

    /// One record a request.
    static func lookups(in folder: URL) throws -> FetchRun {
        try FetchRun(in: folder, connectionsCount: 64, requestsCount: 15_000, countsBytes: false) {
            try $0.fill(10_000, ServiceRequests(seed: 1)).prefix(1_000).map { name in
                ServiceRequests.lookup(name)
            }
        }
    }

    /// Pages of 200 records.
    static func pages(in folder: URL) throws -> FetchRun {
        try FetchRun(in: folder, connectionsCount: 16, requestsCount: 500, countsBytes: true) {
            _ = try $0.fill(10_000, ServiceRequests(seed: 1))
            return try $0.pages(countMax: 49).requests
        }
    }

    /// A new device fetches a large zone: 100,000 records, page after page on one connection.
    static func firstSync(in folder: URL) throws -> FetchRun {
        let recordsCount = 100_000
        return try FetchRun(
            in: folder, connectionsCount: 1, requestsCount: recordsCount / 200, countsBytes: true
        ) {
            _ = try $0.fill(recordsCount, ServiceRequests(seed: 1))
            let requests = try $0.pages(countMax: recordsCount).requests
            guard requests.count == recordsCount / 200 else { throw BenchError("\(requests.count) pages") }
            return requests
        }
    }

    private init(
        in folder: URL, connectionsCount: Int, requestsCount: Int, countsBytes: Bool,
        requests: (CloudProcess) throws -> [[UInt8]]
    ) throws {
        self.connectionsCount = connectionsCount
        self.requestsCount = requestsCount
        self.countsBytes = countsBytes
        self.folder = folder
        let cloud = try CloudProcess(storePath: folder.appendingPathComponent("ours.sqlite").path)
        self.cloud = cloud
        do {
            try cloud.exchange(ServiceRequests.makeZone)
            let requests = try requests(cloud)
            answers = try requests.map { try cloud.exchange($0) }
            ourRequests = LoadRequests(requests, answerLengths: answers.map(\.count))
            nginxRequests = LoadRequests(
                answers.indices.map(Nginx.request), answerLengths: answers.map(\.count))
            nginx = try Nginx(folder: folder, content: answers, workersCount: ServiceLoad.workersCount)
        } catch {
            cloud.end()
            throw error
        }
    }

    func ours() throws -> Double {
        try timed(cloud.process, &ourTimes) { try rate(ourRequests, port: cloud.port) }
    }

    func reference() throws -> Double {
        try timed(nginx.process, &nginxTimes) { try rate(nginxRequests, port: nginx.port) }
    }

    func remarks() throws -> [LineRemark] {
        var text = String(
            format: "processor time a request: %.1f us, nginx %.1f us (ratio %.2f)",
            LineResult.median(ourTimes),
            LineResult.median(nginxTimes), LineResult.median(nginxTimes) / LineResult.median(ourTimes))
        if countsBytes { text += String(format: "; nginx without sendfile %.0f MB/s", try withoutSendfile()) }
        return [LineRemark(text: text)]
    }

    /// What nginx does when it copies the bytes as every server does that makes them.
    private func withoutSendfile() throws -> Double {
        let copying = try Nginx(
            folder: folder.appendingPathComponent("copying"), content: answers,
            workersCount: ServiceLoad.workersCount, usesSendfile: false)
        defer { copying.end() }
        let rates = try (0..<4).map { _ in try rate(nginxRequests, port: copying.port) }
        return LineResult.median(Array(rates.dropFirst()))
    }

    private func timed(_ process: ChildProcess, _ times: inout [Double], _ body: () throws -> Double) throws
        -> Double
    {
        let before = try process.processorSeconds()
        let rate = try body()
        times.append((try process.processorSeconds() - before) / Double(requestsCount) * 1e6)
        return rate
    }

    func close() {
        nginx.end()
        cloud.end()
    }

    private func rate(_ requests: LoadRequests, port: Int) throws -> Double {
        let result = try Load.run(
            requests, port: port, connections: connectionsCount, total: requestsCount)
        return (countsBytes ? Double(result.bodyBytes) / 1e6 : Double(requestsCount)) / result.seconds
    }
}
