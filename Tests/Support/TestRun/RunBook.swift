/// The books of a run: what runs, what has ended and how. It reads no clock and no process; the runner does.
package struct RunBook: Sendable {
    /// How a test ended.
    struct Outcome {
        var seconds = 0.0
        var casesCount = 0
        var issues = [[String]]()
        var issuesCount = 0
        var isSkipped = false
        var isHung = false
        var hasEnded = false

        var hasFailed: Bool { issuesCount > 0 || isSkipped || isHung }
    }

    static let issuesMax = 10

    package let listed: [TestID]
    package let limits: Limits
    private(set) var watches: [Int32: ProcessWatch] = [:]
    private(set) var outcomes: [TestID: Outcome] = [:]
    /// Failures outside of a test.
    private(set) var otherFailures = [String]()
    /// The tests that failed and have not been printed.
    private var unprinted = [TestID]()

    package init(listed: [TestID], limits: Limits) {
        self.listed = listed
        self.limits = limits
    }

    package var endedCount: Int { outcomes.values.count { $0.hasEnded } }

    /// Seconds of each unit, for the order of the next run.
    package var secondsOfUnits: [String: Double] {
        outcomes.reduce(into: [:]) { $0[$1.key.unit, default: 0] += $1.value.seconds }
    }

    package mutating func start(_ process: Int32, tests: [TestID], at now: Double) {
        watches[process] = ProcessWatch(tests: tests, at: now)
    }

    package mutating func take(_ event: TestEvent, from process: Int32) {
        guard var watch = watches[process] else { return }
        if let test = event.test ?? watch.test { note(event, of: test, watch) } else { note(event) }
        watch.take(event)
        watches[process] = watch
    }

    package mutating func observe(_ process: Int32, processorSeconds: Double, at now: Double) {
        watches[process]?.observe(processorSeconds: processorSeconds, at: now, limits)
    }

    /// Notes the end of a process. Returns the tests that it was to run and that need another process.
    package mutating func end(_ process: Int32, _ end: ProcessEnd, output: String) -> [TestID] {
        guard let watch = watches.removeValue(forKey: process) else { return [] }
        guard let test = watch.test else {
            if !watch.hasEnded || !end.isExpected(hasFailed: watch.hasFailed) {
                addFailure("outside of a test: \(end)")
            }
            return []
        }
        addIssue(["\(end)"] + Text.crash(output), to: test)
        close(test)
        return watch.remaining.filter { $0 != test }
    }

    package mutating func addFailure(_ words: String) {
        otherFailures.append(words)
    }

    /// The messages of the tests that have failed since the last call.
    package mutating func takeFailures() -> [String] {
        defer { unprinted = [] }
        return unprinted.flatMap { test in
            let outcome = outcomes[test] ?? Outcome()
            let rest = outcome.issuesCount - outcome.issues.count
            return ["✘ \(test)"] + outcome.issues.flatMap { $0.map { "    \($0)" } }
                + (rest > 0 ? ["    … \(rest) more issues"] : [])
        }
    }

    mutating func markHung(_ test: TestID, _ words: String) {
        outcomes[test, default: Outcome()].isHung = true
        addIssue([words], to: test)
        close(test)
    }

    private mutating func note(_ event: TestEvent, of test: TestID, _ watch: ProcessWatch) {
        switch event.kind {
        case .testCaseStarted: outcomes[test, default: Outcome()].casesCount += 1
        case .issueRecorded where !event.isKnown:
            let lines = event.messages.flatMap { Text.lines($0) }
            addIssue(lines + [event.place.map { "at \($0)" }, watch.arguments].compactMap(\.self), to: test)
        case .testEnded where event.test != nil:
            outcomes[test, default: Outcome()].seconds = watch.seconds(at: event.at)
            close(test)
        case .testSkipped where event.test != nil, .testCancelled where event.test != nil:
            outcomes[test, default: Outcome()].isSkipped = true
            outcomes[test]?.issues.append(event.messages.flatMap { Text.lines($0) })
            outcomes[test]?.issuesCount += 1
            close(test)
        default: break
        }
    }

    private mutating func note(_ event: TestEvent) {
        guard event.kind == .issueRecorded, !event.isKnown else { return }
        let words = (event.messages + [event.place].compactMap(\.self)).joined(separator: " ")
        otherFailures.append("outside of a test: \(Text.bounded(words))")
    }

    private mutating func addIssue(_ lines: [String], to test: TestID) {
        outcomes[test, default: Outcome()].issuesCount += 1
        guard let count = outcomes[test]?.issues.count, count < Self.issuesMax else { return }
        outcomes[test]?.issues.append(lines)
    }

    private mutating func close(_ test: TestID) {
        outcomes[test, default: Outcome()].hasEnded = true
        if outcomes[test]?.hasFailed == true, !unprinted.contains(test) { unprinted.append(test) }
    }
}
