extension RunBook {
    static let longestMax = 20
    /// Lines of a failed test's first issue at the end of the run.
    static let issueLinesMax = 6

    /// The tests that worked longest, in their bodies.
    package func longestLines() -> [String] {
        let longest = outcomes.sorted {
            ($0.value.seconds, $1.key.text) > ($1.value.seconds, $0.key.text)
        }
        return longest.prefix(Self.longestMax).map { test, outcome in
            let cases = outcome.casesCount > 0 ? ", \(outcome.casesCount) cases" : ""
            return "\(Text.seconds(outcome.seconds)): \(test)\(cases)"
        }
    }

    /// The tests that failed, were skipped or did not run. The first issue stands below its test: often the end of the
    /// output is all that is kept.
    package func failedLines() -> [String] {
        let failed = outcomes.filter { $0.value.hasFailed }.sorted { $0.key.text < $1.key.text }
        let lines = failed.flatMap { test, outcome in
            let kind = outcome.isHung ? "hung: " : ""
            let issue = outcome.isHung || outcome.isSkipped ? [] : outcome.issues.first ?? []
            return ["failed: \(kind)\(test)\(outcome.isSkipped ? " (skipped)" : "")"]
                + issue.prefix(Self.issueLinesMax).map { "    \($0)" }
        }
        let isMissing = "failed: \(missingCount) of \(listed.count) tests did not run"
        let missing = missingCount == 0 ? [] : [isMissing]
        let empty = listed.isEmpty ? ["failed: no test is listed"] : []
        return lines + missing + empty + otherFailures.map { "failed: \($0)" }
    }

    package var passedCount: Int { outcomes.values.count { $0.hasEnded && !$0.hasFailed } }

    package var failedCount: Int {
        outcomes.values.count { $0.hasFailed } + missingCount + otherFailures.count + (listed.isEmpty ? 1 : 0)
    }

    package var lastLine: String { "\(passedCount) passed, \(failedCount) failed" }

    private var missingCount: Int { listed.count { outcomes[$0]?.hasEnded != true } }
}
