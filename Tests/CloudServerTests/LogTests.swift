import CloudWire
import Dispatch
import Foundation
import System
import Testing
import Waiting

@testable import CloudServer
@testable import HTTPServer

@Suite struct LogTests {
    private func parsed(_ line: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any])
    }

    private func summary(path: String, context: (any Sendable)? = nil) -> HTTPExchangeSummary {
        HTTPExchangeSummary(
            requestID: "ID", peer: "127.0.0.1", method: "POST", path: path, status: 200, bytesIn: 1,
            bytesOut: 2,
            milliseconds: 3, ending: .answered, context: context)
    }

    @Test func whateverIsInAPathALineStaysOneLineOfASCIIControlsAndValidJSON() throws {
        let path = "/\"\\\n\r\t\u{0}\u{7F}\u{1B}[31m\u{2028}\u{85}\u{202E}é😀\u{FFFE}"
        let line = requestLine(summary(path: path), milliseconds: 0)
        #expect(line.last == UInt8(ascii: "\n"))
        #expect(line.dropLast().allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        #expect(!String(decoding: line, as: UTF8.self).unicodeScalars.contains("\u{202E}"))
        #expect(try parsed(line)["path"] as? String == path)
    }

    /// A character may be a letter with thousands of accents.
    @Test func aLogLineIsShortForAnyRequest() throws {
        for text in [String(repeating: "x", count: 15_000), "e" + String(repeating: "\u{301}", count: 7_000)]
        {
            var note = RequestNote(clientID: text)
            note.service.userRecordName = "_1"
            for path in [
                "/database/1/\(text)/production/private/x", "/database/1/a/\(text)/private/x",
                "/database/1/a/production/private/\(text)",
            ] {
                let line = requestLine(summary(path: path, context: note), milliseconds: 0)
                #expect(line.count < 2_048)
                #expect(try parsed(line)["status"] as? Int == 200)
            }
        }
    }

    @Test func aLineNamesTheContainerTheOperationTheUserAndTheError() throws {
        var note = RequestNote(clientID: "phone")
        note.service.userRecordName = "_1"
        note.service.errorCode = "CONFLICT"
        note.service.groupRequests = 3
        let line = requestLine(
            summary(path: "/database/1/iCloud.x/production/private/records/modify", context: note),
            milliseconds: 1_795_000_000_123)
        let members = try parsed(line)
        #expect(members["time"] as? String == "2026-11-18T11:06:40.123Z")
        #expect(members["container"] as? String == "iCloud.x")
        #expect(members["environment"] as? String == "production")
        #expect(members["operation"] as? String == "records/modify")
        #expect(members["user"] as? String == "_1")
        #expect(members["client"] as? String == "phone")
        #expect(members["error"] as? String == "CONFLICT")
        #expect(members["group"] as? Int == 3)
        #expect(members["status"] as? Int == 200)
    }

    @Test func recordsThatAreRefusedAreInTheLineAndTheMetricsWithTheirCodes() async throws {
        try await withServer(configure: { $0.servesMetrics = true }) { server in
            let device = try RawDevice(port: server.port, token: "ada")
            try device.makeZone("list")
            func save(_ names: String...) throws -> [String: Any] {
                let operations = names.map {
                    RecordOperation(operationType: .create, record: RawDevice.record($0, 1))
                }
                let response = try device.modify(operations, zone: "list")
                #expect(response.status == 200)
                return try server.log.line(id: #require(response.header("X-Apple-Request-UUID")))
            }
            #expect(try save("a")["recordErrors"] == nil)
            let both = try save("a", "b")
            #expect(both["recordErrors"] as? [String: Int] == ["ATOMIC_ERROR": 1, "CONFLICT": 1])
            #expect(both["error"] == nil, "the request as a whole was answered")
            #expect(try save("a")["recordErrors"] as? [String: Int] == ["CONFLICT": 1])
            let metrics = try RawConnection(port: server.port).exchange("GET", "/metrics").text
            let found = try Exposition(metrics)
            #expect(found.value("yap_record_errors_total", ["code": "CONFLICT"]) == 2)
            #expect(found.value("yap_record_errors_total", ["code": "ATOMIC_ERROR"]) == 1)
            #expect(found.value("yap_request_errors_total", ["code": "CONFLICT"]) == nil)
        }
    }

    @Test func behindYourOwnProxyALogLineHasTheClientsAddress() async throws {
        for isTrusted in [false, true] {
            try await withServer(configure: { $0.trustsForwardedFor = isTrusted }) { server in
                let response = try RawConnection(port: server.port).exchange(
                    "GET", "/yap/1/health",
                    headers: [(name: "X-Forwarded-For", value: "198.51.100.1, 192.0.2.7")])
                let line = try server.log.line(id: #require(response.header("X-Apple-Request-UUID")))
                #expect(line["peer"] as? String == (isTrusted ? "192.0.2.7" : "127.0.0.1"))
            }
        }
    }

    @Test func timesAreThoseOfTheCalendar() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        let random = SeededRandomSource(seed: 1)
        for _ in 0..<2_000 {
            let milliseconds = Int64(random.next(in: -2_000_000_000_000..<9_000_000_000_000))
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            #expect(logTime(milliseconds: milliseconds).prefix(19) == formatter.string(from: date).prefix(19))
        }
        #expect(logTime(milliseconds: 951_782_399_999) == "2000-02-28T23:59:59.999Z")
        #expect(logTime(milliseconds: 951_782_400_000) == "2000-02-29T00:00:00.000Z")
    }

    @Test func aProgramsOwnHandlerReceivesEachLine() async throws {
        let lines = WatchedValue<[String]>([])
        let sink = LineLogSink { line in lines.change { $0.append(line) } }
        try await withServer(configure: { $0.log = sink }) { server in
            let connection = try RawConnection(port: server.port)
            let ids = try (0..<3).map { _ in
                try #require(try connection.exchange("GET", "/yap/1/health").header("X-Apple-Request-UUID"))
            }
            try lines.wait { $0.count { $0.contains("\"id\"") } >= 3 }
            let members = try lines.value.map { try self.parsed(Array($0.utf8)) }
            #expect(members.compactMap { $0["id"] as? String } == ids)
            #expect(lines.value.allSatisfy { !$0.contains("\n") })
        }
        sink.write(Array("{}\n{\"a\":1}\n".utf8))
        #expect(lines.value.suffix(2) == ["{}", "{\"a\":1}"])
    }

    @Test func aSlowSinkCostsLinesAndTheLogSaysHowMany() throws {
        let sink = GatedSink()
        let log = try ServerLog(sink, entriesMax: 10, clock: ManualTimeSource()).started()
        log.add { Array("{\"first\":1}\n".utf8) }
        sink.waitUntilEntered()
        for index in 0..<25 { log.add { Array("{\"index\":\(index)}\n".utf8) } }
        sink.open()
        log.stop(waitMilliseconds: 10_000)
        let lines = String(decoding: sink.bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(lines.count == 12)
        let last = try parsed(Array(try #require(lines.last).utf8))
        #expect(last["count"] as? Int == 15)
    }
}

/// A sink that keeps its first caller until it is opened.
private final class GatedSink: LogSink {
    private let taken = Lock<[UInt8]>([])
    private let entered = DispatchSemaphore(value: 0)
    private let gate = DispatchSemaphore(value: 0)

    var bytes: [UInt8] { taken.withLock { $0 } }

    func write(_ lines: [UInt8]) {
        entered.signal()
        gate.wait()
        gate.signal()
        taken.withLock { $0 += lines }
    }

    func waitUntilEntered() { entered.wait() }
    func open() { gate.signal() }
}
