/// What one test process does. It runs one test at a time, so the start of a test is the start of its body.
package struct ProcessWatch: Sendable {
    /// The tests that the process was started for and that have not ended.
    package private(set) var remaining: [TestID]
    /// The test that is running.
    package private(set) var test: TestID?
    /// The sentence with the arguments of the case that is running.
    package private(set) var arguments: String?
    /// Start of the body that is running, or end of the last one.
    package private(set) var since: Double
    /// True if a test has failed in this process.
    package private(set) var hasFailed = false
    /// True after the last test.
    package private(set) var hasEnded = false
    private var testSince = 0.0
    private var lastWork: (at: Double, processorSeconds: Double)

    init(tests: [TestID], at now: Double) {
        remaining = tests
        since = now
        lastWork = (now, 0)
    }

    /// Seconds since the test that is running has started, with all its cases.
    func seconds(at now: Double) -> Double { now - testSince }

    mutating func take(_ event: TestEvent) {
        lastWork.at = max(lastWork.at, event.at)
        switch event.kind {
        case .testStarted:
            guard event.test != nil else { return }
            (test, arguments, since, testSince) = (event.test, nil, event.at, event.at)
        case .testCaseStarted:
            since = event.at
            arguments = event.messages.first.map(Self.argumentsOnly)
        case .testCaseEnded:
            since = event.at
            arguments = nil
        case .testEnded, .testSkipped, .testCancelled:
            guard let ended = event.test else { return }
            remaining.removeAll { $0 == ended }
            (test, arguments, since) = (nil, nil, event.at)
        case .issueRecorded:
            if !event.isKnown { hasFailed = true }
        case .runEnded:
            hasEnded = true
            since = event.at
        }
    }

    /// Notes how much processor time the process and its children have used.
    mutating func observe(processorSeconds: Double, at now: Double, _ limits: Limits) {
        // It is less than before when a child has ended that nobody waited for.
        if abs(processorSeconds - lastWork.processorSeconds) > limits.idleProcessorSeconds {
            lastWork = (now, processorSeconds)
        }
    }

    /// Why the process is hung, or nil if it isn't.
    func hang(at now: Double, _ limits: Limits) -> String? {
        let most = limits.seconds(for: test)
        if now - since > most { return "takes longer than \(Text.seconds(most))" }
        if now - lastWork.at > limits.idleSeconds {
            return "has used no processor time for \(Text.seconds(limits.idleSeconds))"
        }
        return nil
    }

    private static func argumentsOnly(_ message: String) -> String {
        var words = message[...]
        for start in ["Test case "] where words.hasPrefix(start) { words.removeFirst(start.count) }
        for end in [" started."] where words.hasSuffix(end) { words.removeLast(end.count) }
        return Text.bounded(String(words))
    }
}
