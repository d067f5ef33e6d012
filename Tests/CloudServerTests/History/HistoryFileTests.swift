import CloudService
import CloudWire
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudServer
@testable import HTTPServer

/// Summaries as the HTTP server hands them over.
enum Summaries {
    static func one(
        _ id: String, path: String = "/database/1/\(RawDevice.container)/development/private/records/modify",
        status: Int = 200, milliseconds: Int64 = 3, user: String? = "_ada", code: String? = nil,
        detail: WireDetail? = WireDetail()
    ) -> HTTPExchangeSummary {
        var note = RequestNote()
        note.service.userRecordName = user
        note.service.errorCode = code
        note.userAgent = "Notes/1.0"
        note.service.detail = detail
        return HTTPExchangeSummary(
            requestID: id, peer: "127.0.0.1", method: "POST", path: path, status: status, bytesIn: 10,
            bytesOut: 20, milliseconds: milliseconds, ending: .answered, context: note)
    }
}

@Suite struct HistoryFileTests {
    private static func history(
        _ folder: TemporaryFolder, clock: any TimeSource, _ change: (inout HistoryOptions) -> Void = { _ in }
    ) throws -> RequestHistory {
        var options = HistoryOptions()
        change(&options)
        return try RequestHistory(path: folder.path + "/history.sqlite", options, clock: clock, log: nil)
            .started()
    }

    private static func count(_ history: RequestHistory, _ query: HistoryQuery = HistoryQuery()) throws -> Int
    {
        var query = query
        query.limit = 100_000
        query.rowsMax = 1_000_000
        return try history.read { try $0.page(query).entries.count }
    }

    @Test func requestsAndTimeLinesSurviveARestart() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let history = try Self.history(folder, clock: clock)
            for number in 0..<10 { history.add(Summaries.one("r\(number)", milliseconds: Int64(number))) }
            history.stop()
            let again = try Self.history(folder, clock: clock)
            defer { again.stop() }
            again.add(Summaries.one("later", milliseconds: 400, code: "CONFLICT"))
            again.settle()
            #expect(try Self.count(again) == 11)
            for place in [
                HistoryPlace.all,
                HistoryPlace(container: RawDevice.container, environment: "development"),
            ] {
                let points = try again.read { try $0.points(.second, from: 0, of: place) }
                #expect(points.count == 1 && points[0].point.requests == 11 && points[0].point.errors == 1)
                #expect(points[0].point.times.milliseconds(atPart: 0.5) == 5)
                #expect(points[0].point.times.milliseconds(atPart: 0.99) == 500)
                #expect(try again.read { try $0.points(.hour, from: 0, of: place) }.count == 1)
            }
        }
    }

    @Test func theFileStaysWithinItsBytesAndTheOldestGoFirst() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let history = try Self.history(folder, clock: clock) { $0.bytesMax = 1 << 20 }
            defer { history.stop() }
            for batch in 0..<20 {
                for number in 0..<500 { history.add(Summaries.one("r\(batch * 500 + number)")) }
                history.settle()
            }
            #expect(try history.read { try $0.usedBytes } <= 1 << 20)
            let size = try FileManager.default.attributesOfItem(atPath: folder.path + "/history.sqlite")[
                .size]
            #expect(size as? Int ?? .max < 2 << 20)
            let kept = try Self.count(history)
            #expect(kept > 100 && kept < 10_000)
            #expect(try history.read { try $0.page(HistoryQuery()) }.entries.first?.id == "r9999")
            #expect(history.droppedCount == 0)
        }
    }

    @Test func entriesOlderThanTheLimitAreRemoved() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let history = try Self.history(folder, clock: clock) { $0.daysMax = 2 }
            defer { history.stop() }
            history.add(Summaries.one("old"))
            history.settle()
            clock.advance(bySeconds: 3 * 86_400)
            history.add(Summaries.one("new"))
            history.settle()
            let page = try history.read { try $0.page(HistoryQuery()) }
            #expect(page.entries.map(\.id) == ["new"])
            let seconds = try history.read { try $0.points(.second, from: 0, of: .all) }
            #expect(seconds.count == 1)
            #expect(try history.read { try $0.points(.hour, from: 0, of: .all) }.count == 2)
        }
    }

    @Test func aSpanOfTimeFindsWhatWasAnsweredInItWithoutLookingAtTheRest() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let history = try Self.history(folder, clock: clock)
            defer { history.stop() }
            for hour in 0..<30 {
                for number in 0..<20 { history.add(Summaries.one("r\(hour).\(number)")) }
                clock.advance(bySeconds: 3_600)
            }
            history.settle()
            var query = HistoryQuery()
            query.fromMilliseconds = 10_000_000_000 + 3 * 3_600_000
            query.toMilliseconds = 10_000_000_000 + 4 * 3_600_000
            // Many more rows lie outside; the 20 at the end of the span are looked at.
            query.rowsMax = 41
            query.limit = 100
            var page = try history.read { try $0.page(query) }
            #expect(page.entries.count == 20 && page.entries.allSatisfy { $0.id.hasPrefix("r3.") })
            #expect(page.before == nil)
            query.toMilliseconds = query.fromMilliseconds
            page = try history.read { try $0.page(query) }
            #expect(page.entries.isEmpty && page.before == nil)
            query.toMilliseconds = .min
            #expect(try history.read { try $0.page(query) }.entries.isEmpty)
            (query.fromMilliseconds, query.toMilliseconds) = (.min, .max)
            query.rowsMax = 10_000
            query.limit = 1_000
            #expect(try history.read { try $0.page(query) }.entries.count == 600)
        }
    }

    @Test func theFileKnowsWhenTheServerRan() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let first = try Self.history(folder, clock: clock)
            first.settle()
            clock.advance(bySeconds: 100)
            first.stop()
            clock.advance(bySeconds: 50)
            let second = try Self.history(folder, clock: clock)
            defer { second.stop() }
            second.settle()
            clock.advance(bySeconds: 7)
            let start = Int64(10_000_000_000)
            #expect(
                try second.runs(from: start) == [
                    HistoryRun(start: start, end: start + 100_000),
                    HistoryRun(start: start + 150_000, end: start + 157_000),
                ])
            #expect(try second.runs(from: start + 100_001).count == 1)
        }
    }

    @Test func whatComesFasterThanItIsWrittenIsDroppedAndCounted() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            // A folder in the file's place: nothing can be written.
            try FileManager.default.createDirectory(
                atPath: folder.path + "/history.sqlite", withIntermediateDirectories: true)
            let history = try Self.history(folder, clock: ManualTimeSource(milliseconds: 10_000_000_000))
            defer { history.stop() }
            for number in 0..<50 { history.add(Summaries.one("r\(number)")) }
            history.settle()
            #expect(history.droppedCount == 50)
        }
    }

    @Test func aDamagedFileOrOneOfAnotherVersionIsMadeAnew() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let path = folder.path + "/history.sqlite"
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            try Data(repeating: 7, count: 20_000).write(to: URL(filePath: path))
            let history = try Self.history(folder, clock: clock)
            history.add(Summaries.one("first"))
            history.settle()
            #expect(try Self.count(history) == 1)
            history.stop()
            let file = try HistoryFile(path: path)
            try file.connection.execute("PRAGMA user_version=77")
            try file.connection.close()
            let again = try Self.history(folder, clock: clock)
            defer { again.stop() }
            again.add(Summaries.one("second"))
            again.settle()
            #expect(try again.read { try $0.page(HistoryQuery()) }.entries.map(\.id) == ["second"])
        }
    }

    @Test func aSearchWithFewMatchesReadsALimitedNumberOfRowsAndContinues() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let history = try Self.history(folder, clock: ManualTimeSource(milliseconds: 10_000_000_000))
            defer { history.stop() }
            history.add(Summaries.one("wanted", code: "CONFLICT"))
            for number in 0..<250 { history.add(Summaries.one("r\(number)")) }
            history.settle()
            var query = HistoryQuery()
            (query.code, query.rowsMax) = ("CONFLICT", 100)
            var pagesCount = 0
            var found: [String] = []
            repeat {
                let page = try history.read { try $0.page(query) }
                found += page.entries.map(\.id)
                query.before = page.before
                pagesCount += 1
            } while query.before != nil && pagesCount < 10
            #expect(found == ["wanted"] && pagesCount == 3)
        }
    }

    @Test func moreEnvironmentsThanHaveLinesOfTheirOwnAreCountedTogether() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let history = try Self.history(folder, clock: ManualTimeSource(milliseconds: 10_000_000_000))
            defer { history.stop() }
            for number in 0..<HistoryFile.environmentsMax + 5 {
                history.add(
                    Summaries.one(
                        "r\(number)",
                        path: "/database/1/iCloud.c\(number)/development/private/zones/list"))
            }
            // Nobody has answered: its container may be made up.
            history.add(
                Summaries.one(
                    "none", path: "/database/1/iCloud.none/development/private/zones/list", status: 404,
                    code: "NOT_FOUND", detail: nil))
            history.settle()
            let others = HistoryPlace(container: HistoryFile.others, environment: "")
            #expect(
                try history.read { try $0.points(.second, from: 0, of: others) }.first?.point.requests == 5)
            let none = HistoryPlace(container: "iCloud.none", environment: "development")
            #expect(try history.read { try $0.points(.second, from: 0, of: none) }.isEmpty)
        }
    }

    @Test func whatClientsSendIsKeptWithinItsBytes() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let history = try Self.history(folder, clock: ManualTimeSource(milliseconds: 10_000_000_000))
            defer { history.stop() }
            let long = String(repeating: "x", count: 100_000)
            history.add(
                Summaries.one("r", path: "/database/1/\(long)/development/private/\(long)", user: long))
            history.settle()
            let entry = try #require(try history.read { try $0.page(HistoryQuery()) }.entries.first)
            #expect(entry.path.utf8.count == 512 && entry.container?.utf8.count == 255)
            #expect(entry.user?.utf8.count == 255 && entry.operation == "other")
        }
    }

    @Test func aContainerThatIsRemovedLeavesNothing() async throws {
        try await onThread {
            let folder = try TemporaryFolder()
            let clock = ManualTimeSource(milliseconds: 10_000_000_000)
            let history = try Self.history(folder, clock: clock)
            let other = "/database/1/iCloud.other/production/private/zones/list"
            history.add(Summaries.one("gone"))
            history.add(Summaries.one("kept", path: other))
            history.remove(HistoryPlace(container: RawDevice.container, environment: "development"))
            history.settle()
            history.remove(HistoryPlace(container: RawDevice.container, environment: "development"))
            history.settle()
            #expect(try history.read { try $0.page(HistoryQuery()) }.entries.map(\.id) == ["kept"])
            history.stop()
            let again = try RequestHistory(
                path: folder.path + "/history.sqlite", HistoryOptions(), clock: clock, log: nil,
                isThere: { $0.container != "iCloud.other" }
            ).started()
            defer { again.stop() }
            again.settle()
            #expect(try Self.count(again) == 0)
        }
    }

    @Test func aHistogramIsReadAsItWasWritten() {
        var histogram = LatencyHistogram()
        for milliseconds in [0, 1, 5, 90, 90, 200_000] as [Int64] {
            histogram.add(milliseconds: milliseconds)
        }
        #expect(LatencyHistogram(bytes: histogram.bytes) == histogram)
        #expect(histogram.milliseconds(atPart: 0.5) == 5 && histogram.milliseconds(atPart: 0.8) == 100)
        #expect(histogram.milliseconds(atPart: 1) == 60_000)
        #expect(LatencyHistogram(bytes: []).milliseconds(atPart: 0.5) == nil)
    }
}
