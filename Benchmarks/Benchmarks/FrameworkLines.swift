import CBenchmarks
import CloudKit
import CloudKitAdditions
import CloudService
import CloudStore
import Foundation

/// The framework: its coding of records, and requests over a socket to a server that always has the same answer.
func frameworkLines() -> [Line] {
    [
        Line(name: "framework.codec", unit: "batches/s", bar: 5) { _ in try CodecRun() },
        Line(name: "framework.save", unit: "records/s", bar: 1.5) {
            try await FrameworkRun(.save, in: $0)
        },
        Line(name: "framework.fetch", unit: "records/s", bar: 1.5) {
            try await FrameworkRun(.fetch, in: $0)
        },
        Line(name: "testing.saveAndFetch", unit: "tests/s", bar: 1) { _ in TestingRun() },
    ]
}

/// Saves or fetches of one record each by many tasks, against libcurl that posts the same bytes one after the other.
private final class FrameworkRun: LineRun {
    enum Task {
        case save
        case fetch
    }

    private static let tasksCount = 16
    private static let requestsCount = 4_000

    private let task: Task
    private let server: ChildProcess
    private let database: CKDatabase
    private let request: CapturedRequest
    private let url: String
    private var references: [Double] = []

    init(_ task: Task, in folder: URL) async throws {
        self.task = task
        let answerPath = folder.appendingPathComponent("answer")
        let firstPath = folder.appendingPathComponent("first")
        try Data(Self.answer(to: task, in: folder)).write(to: answerPath)
        let server = try ChildProcess(
            ChildProcess.ownPath, [ChildMode.serveCanned, answerPath.path, firstPath.path])
        self.server = server
        do {
            guard let port = Int(server.readLine()) else { throw BenchError("the server did not start") }
            var place = CloudKitConfiguration.Container(server: "http://127.0.0.1:\(port)")
            place.webAuthToken = ServiceRequests.token
            place.deviceID = "bench"
            database =
                CKContainer(identifier: ServiceRequests.container, configuration: place)
                .privateCloudDatabase
            try await Self.run(task, BenchRecords.records(1), database)
            request = try CapturedRequest(Data(contentsOf: firstPath))
            url = "http://127.0.0.1:\(port)\(request.target)"
        } catch {
            server.end()
            throw error
        }
    }

    func ours() async throws -> Double { try await rate(tasksCount: Self.tasksCount) }

    func reference() throws -> Double {
        let lines = request.headers.map { strdup($0) }
        defer { for line in lines { free(line) } }
        let headers = lines.map { UnsafePointer($0) } + [nil]
        let seconds = request.body.withUnsafeBytes {
            probe_curl(
                url, headers, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count,
                Self.requestsCount)
        }
        guard seconds > 0 else { throw BenchError("libcurl got no answer from \(url)") }
        references.append(Double(Self.requestsCount) / seconds)
        return Double(Self.requestsCount) / seconds
    }

    func remarks() async throws -> [LineRemark] {
        var oneByOne: [Double] = []
        for _ in 0..<3 { oneByOne.append(try await rate(tasksCount: 1)) }
        let ours = try await processorMicroseconds { _ = try await self.ours() }
        let theirs = try await processorMicroseconds { _ = try self.reference() }
        let ratio = LineResult.median(oneByOne) / LineResult.median(references)
        let text = String(
            format:
                "%d tasks; one by one %.2f (%.0f records/s); processor time %.1f us, libcurl %.1f; %d bytes",
            Self.tasksCount, ratio, LineResult.median(oneByOne), ours, theirs, request.body.count)
        return [LineRemark(text: text)]
    }

    /// The processor time of this process for each request of `body`, which the machine's load changes little.
    private func processorMicroseconds(_ body: () async throws -> Void) async throws -> Double {
        let before = try ChildProcess.processorSeconds(of: getpid())
        try await body()
        return (try ChildProcess.processorSeconds(of: getpid()) - before) / Double(Self.requestsCount) * 1e6
    }

    func close() { server.end() }

    private func rate(tasksCount: Int) async throws -> Double {
        let each = Self.requestsCount / tasksCount
        let database = database
        // Made before the clock starts, as the reference's body is.
        let records = (0..<tasksCount).map { _ in BenchRecords.records(each) }
        let task = task
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for records in records {
                group.addTask { try await Self.run(task, records, database) }
            }
            try await group.waitForAll()
        }
        return Double(each * tasksCount) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private nonisolated static func run(
        _ task: Task, _ records: [CKRecord], _ database: CKDatabase
    ) async throws {
        for record in records {
            switch task {
            case .save: _ = try await database.save(record)
            case .fetch: _ = try await database.record(for: record.recordID)
            }
        }
    }

    /// What our service answers, as a whole HTTP answer.
    private static func answer(to task: Task, in folder: URL) throws -> [UInt8] {
        let store = try SQLiteCloudStore(path: folder.appendingPathComponent("answer.sqlite").path)
        let service = benchService(store)
        var body = try Recording.answer(toSaveOf: [BenchRecords.name(0)], service: service)
        if task == .fetch {
            body = try Recording.answer(toLookupOf: [BenchRecords.name(0)], service: service)
        }
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nX-Yap-Protocol: 1\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
    }
}

/// The records of the framework's lines.
enum BenchRecords {
    /// The server always has the same answer, so all have one name; in a batch each needs its own.
    static func name(_ number: Int) -> String { "note-\(number)" }

    static func records(
        _ count: Int, in zone: CKRecordZone.ID = CKRecordZone.ID(zoneName: "notes"),
        named: (Int) -> String = { _ in name(0) }
    ) -> [CKRecord] {
        (0..<count).map { number in
            let record = CKRecord(
                recordType: "Note", recordID: CKRecord.ID(recordName: named(number), zoneID: zone))
            record["title"] = "Note number \(number)"
            record["body"] = "Two dozen eggs from the farm, and the bill of the \(number)th."
            record["isDone"] = number % 3 == 0 ? 1 : 0
            record["priority"] = number % 7 - 3
            record["estimateHours"] = Double(number % 40) / 4
            record["created"] = Date(timeIntervalSince1970: 1_700_000_000 + Double(number))
            record["project"] = "household"
            record["tags"] = ["home", "food"]
            return record
        }
    }
}

/// A request as it came over the socket.
struct CapturedRequest {
    let target: String
    /// The header's lines, without those that a client makes for each request by itself.
    let headers: [String]
    let body: [UInt8]

    init(_ data: Data) throws {
        guard let end = data.range(of: Data("\r\n\r\n".utf8)) else { throw BenchError("no request came") }
        let lines = String(decoding: data[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3, words[0] == "POST" else { throw BenchError("no POST came: \(lines[0])") }
        target = String(words[1])
        headers = lines.dropFirst().filter { line in
            let line = line.lowercased()
            return !line.hasPrefix("host:") && !line.hasPrefix("content-length:")
        }
        body = [UInt8](data[end.upperBound...])
    }
}
