import TestRun
import Testing

@Suite struct SummaryTests {
    private let good = EventLines.id("Sums", "good()")
    private let bad = EventLines.id("Sums", "bad(_:)")
    private let skipped = EventLines.id("Sums", "skipped()")
    private let missing = EventLines.id("Others", "missing()")
    private let issue =
        #""issue":{"isKnown":false,"sourceLocation":{"fileID":"ToyTests/Toy.swift","line":9}},"#

    private func book(_ texts: String...) throws -> RunBook {
        let tests = try texts.map { try #require(TestID($0)) }
        var book = RunBook(listed: tests, limits: Limits())
        book.start(1, tests: tests, at: 1000)
        return book
    }

    @Test func passedFailedSkippedAndMissingTestsAreCounted() throws {
        var book = try book(good, bad, skipped, missing)
        book.take(
            EventLines.line("testStarted", "ToyTests.Sums", at: 1000),
            EventLines.line("testStarted", good, at: 1000), EventLines.line("testEnded", good, at: 1003),
            EventLines.line("testStarted", bad, at: 1003),
            EventLines.line(
                "testCaseStarted", bad, at: 1003, message: "Test case passing 1 to bad(_:) started."),
            EventLines.line("issueRecorded", bad, at: 1004, message: "1 is\\n2", fields: issue),
            EventLines.line("testCaseEnded", bad, at: 1005),
            EventLines.line(
                "testCaseStarted", bad, at: 1005, message: "Test case passing 3 to bad(_:) started."),
            EventLines.line("testCaseEnded", bad, at: 1015), EventLines.line("testEnded", bad, at: 1015),
            EventLines.line("testSkipped", skipped, at: 1015, message: "Test skipped() skipped."),
            EventLines.line("testEnded", "ToyTests.Sums", at: 1015), EventLines.line("runEnded", "", at: 1015)
        )
        #expect(book.end(1, .exit(1), output: "").isEmpty)
        #expect(
            book.takeFailures() == [
                "✘ ToyTests.Sums bad(_:)", "    1 is", "    2", "    at ToyTests/Toy.swift:9",
                "    passing 1 to bad(_:)", "✘ ToyTests.Sums skipped()", "    Test skipped() skipped.",
            ])
        #expect(book.takeFailures().isEmpty)
        #expect(
            book.failedLines() == [
                "failed: ToyTests.Sums bad(_:)", "    1 is", "    2", "    at ToyTests/Toy.swift:9",
                "    passing 1 to bad(_:)", "failed: ToyTests.Sums skipped() (skipped)",
                "failed: 1 of 4 tests did not run",
            ])
        #expect(book.lastLine == "1 passed, 3 failed")
        #expect(
            book.longestLines().prefix(2) == [
                "12 s: ToyTests.Sums bad(_:), 2 cases", "3.0 s: ToyTests.Sums good()",
            ])
        #expect(book.secondsOfUnits == ["ToyTests.Sums": 15])
    }

    @Test func aKnownIssueIsNoFailure() throws {
        var book = try book(good)
        book.take(
            EventLines.line("testStarted", good, at: 1000),
            EventLines.line(
                "issueRecorded", good, at: 1000, message: "known",
                fields: issue.replacing("false", with: "true")), EventLines.line("testEnded", good, at: 1001),
            EventLines.line("runEnded", "", at: 1001))
        #expect(book.end(1, .exit(0), output: "").isEmpty)
        #expect(book.failedLines().isEmpty && book.lastLine == "1 passed, 0 failed")
    }

    @Test func aTestThatEndsItsProcessHasFailedAndTheOthersNeedAnother() throws {
        var book = try book(good, bad, missing)
        book.take(
            EventLines.line("testStarted", good, at: 1000), EventLines.line("testEnded", good, at: 1001),
            EventLines.line("testStarted", bad, at: 1001))
        let rest = book.end(
            1, .signal(4), output: "seed 42\nToy.swift:3: Fatal error: Index out of range\nThread 0")
        #expect(rest.map(\.text) == [missing])
        #expect(
            book.takeFailures() == [
                "✘ ToyTests.Sums bad(_:)", "    The process was ended by signal 4.",
                "    Toy.swift:3: Fatal error: Index out of range", "    Thread 0",
            ])
        book.start(2, tests: rest, at: 1010)
        book.take(
            EventLines.line("testStarted", missing, at: 1010),
            EventLines.line("testEnded", missing, at: 1011),
            EventLines.line("runEnded", "", at: 1011), from: 2)
        #expect(book.end(2, .exit(0), output: "").isEmpty)
        #expect(book.lastLine == "2 passed, 1 failed")
    }

    @Test func whatFailsOutsideOfATestFailsTheRun() throws {
        var ended = try book(good)
        ended.take(
            EventLines.line("testStarted", good, at: 1000), EventLines.line("testEnded", good, at: 1001),
            EventLines.line("runEnded", "", at: 1001))
        #expect(ended.end(1, .exit(7), output: "").isEmpty)
        #expect(ended.failedLines() == ["failed: outside of a test: The process ended with exit status 7."])
        #expect(ended.lastLine == "1 passed, 1 failed")
        var silent = try book(good)
        #expect(silent.end(1, .exit(0), output: "").isEmpty)
        #expect(silent.lastLine == "0 passed, 2 failed")
        #expect(RunBook(listed: [], limits: Limits()).lastLine == "0 passed, 1 failed")
    }

    @Test func manyAndLongMessagesAreCut() throws {
        var book = try book(bad)
        book.take(EventLines.line("testStarted", bad, at: 1000))
        let long = String(repeating: "x", count: 1000) + String(repeating: "\\n1", count: 100)
        for _ in 1...50 { book.take(EventLines.line("issueRecorded", bad, at: 1000, message: long)) }
        book.take(EventLines.line("testEnded", bad, at: 1001))
        #expect(book.failedLines().count == 1 + 6)
        let lines = book.takeFailures()
        #expect(lines.count == 1 + 10 * 41 + 1 && lines.allSatisfy { $0.count < 500 })
        #expect(lines.last == "    … 40 more issues")
    }

    @Test func progressIsSaidAtEachTenthAndOnceAMinute() {
        var progress = Progress(at: 1000)
        let lines = (0...1000).compactMap { progress.line(ended: $0, of: 1000, at: 1000 + Double($0) / 100) }
        #expect(lines.count == 10 && lines.last == "1000 of 1000 tests, 10 s")
        var slow = Progress(at: 1000)
        #expect((0...1000).compactMap { slow.line(ended: 0, of: 10, at: 1000 + Double($0) * 10) }.count == 60)
    }
}
