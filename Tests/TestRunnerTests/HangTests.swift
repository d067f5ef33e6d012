import TestRun
import Testing

/// The clock is a number: a test that waits two minutes takes none.
@Suite struct HangTests {
    private let slow = EventLines.id("Slow", "slow()")
    private let next = EventLines.id("Slow", "next()")
    private let cases = EventLines.id("Slow", "cases(_:)")

    private func book(_ limits: Limits = Limits()) throws -> RunBook {
        let tests = try EventLines.tests(slow, next, cases)
        var book = RunBook(listed: tests, limits: limits)
        book.start(1, tests: tests, at: 1000)
        return book
    }

    @Test func aBodyThatTakesLongerThanTheLimitIsHungThoughItUsesTheProcessor() throws {
        var book = try book()
        book.take(EventLines.line("testStarted", slow, at: 1010))
        for second in 1...130 { book.observe(1, processorSeconds: Double(second), at: 1010 + Double(second)) }
        #expect(book.hangs(at: 1130).isEmpty)
        #expect(book.hangs(at: 1249, slowdown: 2).isEmpty, "on a busy machine it may take longer")
        #expect(book.hangs(at: 1251, slowdown: 2).count == 1)
        let hang = try #require(book.hangs(at: 1130.5).first)
        #expect("\(hang)" == "ToyTests.Slow slow() takes longer than 120 s" && hang.process == 1)
        #expect(book.runningLines(at: 1130.5) == ["ToyTests.Slow slow(): since 121 s, process 1"])
        book.note(hang)
        #expect(
            book.failedLines() == [
                "failed: hung: ToyTests.Slow slow()", "failed: 2 of 3 tests did not run",
            ])
        #expect(book.lastLine == "0 passed, 3 failed")
    }

    @Test func theLimitHoldsForEachCaseAndForWhatIsBetweenTests() throws {
        var book = try book()
        book.take(EventLines.line("testStarted", cases, at: 1010))
        for start in [1010.0, 1120, 1230] {
            book.take(
                EventLines.line("testCaseStarted", cases, at: start, message: "Test case passing 1 started."))
            #expect(book.hangs(at: start + 119).isEmpty)
            #expect(
                book.runningLines(at: start + 9) == [
                    "ToyTests.Slow cases(_:), passing 1: since 9.0 s, process 1"
                ])
            book.take(EventLines.line("testCaseEnded", cases, at: start + 100))
        }
        book.take(EventLines.line("testEnded", cases, at: 1330))
        #expect(book.hangs(at: 1449).isEmpty)
        let hang = try #require(book.hangs(at: 1451).first)
        #expect(hang.test == nil)
        book.note(hang)
        #expect(book.failedLines().last?.hasPrefix("failed: hung: a process between tests") == true)
    }

    @Test func aProcessWithoutEventsAndProcessorTimeIsHung() throws {
        var book = try book(
            Limits(environment: ["YAP_TEST_SECONDS_MAX": "600", "YAP_TEST_IDLE_SECONDS_MAX": "120"]))
        book.take(EventLines.line("testStarted", slow, at: 1000))
        for second in 1...100 { book.observe(1, processorSeconds: Double(second), at: 1000 + Double(second)) }
        for second in 101...300 { book.observe(1, processorSeconds: 100.1, at: 1000 + Double(second)) }
        #expect(book.hangs(at: 1219).isEmpty)
        #expect(book.hangs(at: 1221).map(\.words) == ["has used no processor time for 120 s"])
        // Less than before: a child has ended.
        book.observe(1, processorSeconds: 20, at: 1222)
        #expect(book.hangs(at: 1300).isEmpty)
        book.take(EventLines.line("testEnded", slow, at: 1341))
        #expect(book.hangs(at: 1342).isEmpty)
    }

    @Test func aTestThatWaitsForItsTurnIsNeverHung() throws {
        var book = try book()
        for turn in 0..<100 {
            let start = 1000 + Double(turn) * 100
            book.take(
                EventLines.line("testStarted", slow, at: start),
                EventLines.line("testEnded", slow, at: start + 100))
            #expect(book.hangs(at: start + 100).isEmpty)
        }
        #expect(book.runningLines(at: 11_000).count == 1)
    }

    @Test func theEnvironmentSetsTheLimits() {
        let set = Limits(environment: ["YAP_TEST_SECONDS_MAX": "6", "YAP_TEST_LONG_SECONDS_MAX": "x"])
        #expect(set.seconds == 6 && set.longSeconds == 300 && set.idleSeconds == 120)
        #expect(LongTests.reasons.allSatisfy { !$0.value.isEmpty })
    }
}
