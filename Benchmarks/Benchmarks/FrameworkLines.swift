import CBenchmarks
import CloudKit
import CloudKitAdditions
import CloudService
import CloudStore
import Foundation

/// The framework over a socket, to a server that always has the same answer.
func frameworkLines() -> [Line] {
    [Line(name: "framework.save", unit: "records/s", bar: 1.5) { try await FrameworkRun(in: $0) }]
}

/// Saves of one record each by many tasks, against libcurl that posts the same bytes one after the other.
private final class FrameworkRun: LineRun {
    private static let tasksCount = 16
    private static let savesCount = 4_000
    private nonisolated static let recordName = "note"

    private let server: ChildProcess
    private let database: CKDatabase
    private let request: CapturedRequest
    private let url: String
    private var references: [Double] = []

    init(in folder: URL) async throws {
        let answerPath = folder.appendingPathComponent("answer")
        let firstPath = folder.appendingPathComponent("first")
        try Data(Self.answer(in: folder)).write(to: answerPath)
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
            try await Self.save(Self.records(1), to: database)
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
                url, headers, $0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, Self.savesCount)
        }
        guard seconds > 0 else { throw BenchError("libcurl got no answer from \(url)") }
        references.append(Double(Self.savesCount) / seconds)
        return Double(Self.savesCount) / seconds
    }

    func remarks() async throws -> [LineRemark] {
        var oneByOne: [Double] = []
        for _ in 0..<3 { oneByOne.append(try await rate(tasksCount: 1)) }
        let ratio = LineResult.median(oneByOne) / LineResult.median(references)
        let text = String(
            format: "%d tasks; one by one %.2f (%.0f records/s); %d bytes a body", Self.tasksCount, ratio,
            LineResult.median(oneByOne), request.body.count)
        return [LineRemark(text: text)]
    }

    func close() { server.end() }

    private func rate(tasksCount: Int) async throws -> Double {
        let each = Self.savesCount / tasksCount
        let database = database
        // Made before the clock starts, as the reference's body is.
        let records = (0..<tasksCount).map { _ in Self.records(each) }
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for records in records {
                group.addTask { try await Self.save(records, to: database) }
            }
            try await group.waitForAll()
        }
        return Double(each * tasksCount) / ((ContinuousClock.now - start) / .seconds(1))
    }

    private nonisolated static func save(_ records: [CKRecord], to database: CKDatabase) async throws {
        for record in records { _ = try await database.save(record) }
    }

    private static func records(_ count: Int) -> [CKRecord] {
        let zone = CKRecordZone.ID(zoneName: "notes", ownerName: CKCurrentUserDefaultName)
        return (0..<count).map { _ in
            let record = CKRecord(
                recordType: "Note", recordID: CKRecord.ID(recordName: recordName, zoneID: zone))
            record["title"] = "Note number 0"
            record["body"] = "Two dozen eggs from the farm, and the bill of the 0th."
            record["isDone"] = 0
            record["priority"] = 0
            record["estimateHours"] = 0.5
            record["created"] = Date(timeIntervalSince1970: 1_700_000_000)
            record["project"] = "household"
            record["tags"] = ["home", "food"]
            return record
        }
    }

    /// What our service answers to such a save, as a whole HTTP answer.
    private static func answer(in folder: URL) throws -> [UInt8] {
        let store = try SQLiteCloudStore(path: folder.appendingPathComponent("answer.sqlite").path)
        let body = try Recording.answer(toSaveOf: [recordName], service: benchService(store))
        let head =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=UTF-8\r\nX-Yap-Protocol: 1\r\n"
            + "Content-Length: \(body.count)\r\n\r\n"
        return Array(head.utf8) + body
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
