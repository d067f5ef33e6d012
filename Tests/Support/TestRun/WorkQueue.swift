/// Tests that run in the same process: those of one outermost suite, or one function without a suite. `.serialized`
/// holds for them, because a process runs one test at a time.
package struct TestUnit: Equatable, Sendable {
    package let name: String
    package let tests: [TestID]
    /// True if the suite has other tests too.
    package var isPart = false

    /// The values of `--filter` that choose these tests.
    package var filters: [String] {
        isPart ? tests.map { "^\(Self.escaped($0.text))$" } : ["^\(Self.escaped(name))/"]
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { $0 += #"\^$.|?*+()[]{}"#.contains($1) ? "\\\($1)" : String($1) }
    }
}

/// The tests that no process has been started for, the longest first.
package struct WorkQueue: Sendable {
    /// A process does this much work, so that its start costs little beside it.
    static let batchSeconds = 5.0
    /// Seconds that a test takes if nothing is known of it.
    static let testSeconds = 0.1
    static let longTestSeconds = 60.0

    private var units: [(unit: TestUnit, seconds: Double)]

    /// - Parameters:
    ///   - tests: The tests to run.
    ///   - all: The tests that exist.
    ///   - seconds: What each unit took in an earlier run.
    package init(_ tests: [TestID], of all: [TestID], seconds: [String: Double]) {
        let counts = all.reduce(into: [:]) { $0[$1.unit, default: 0] += 1 }
        units = Dictionary(grouping: tests, by: \.unit).map { name, tests in
            let unit = TestUnit(name: name, tests: tests, isPart: tests.count != counts[name])
            return (unit, seconds[name] ?? tests.map(Self.guess).reduce(0, +))
        }.sorted { ($0.seconds, $0.unit.name) > ($1.seconds, $1.unit.name) }
    }

    package var isEmpty: Bool { units.isEmpty }

    /// Removes the tests for the next process.
    package mutating func next() -> [TestUnit] {
        var batch = [TestUnit](), seconds = 0.0
        while let first = units.first, batch.isEmpty || seconds + first.seconds <= Self.batchSeconds {
            batch.append(first.unit)
            seconds += first.seconds
            units.removeFirst()
        }
        return batch
    }

    /// Puts back tests whose process has ended before they ran.
    package mutating func putBack(_ tests: [TestID]) {
        for (name, tests) in Dictionary(grouping: tests, by: \.unit) {
            units.append((TestUnit(name: name, tests: tests, isPart: true), Self.batchSeconds))
        }
    }

    private static func guess(_ test: TestID) -> Double {
        let isLong = LongTests.reasons[test.name] != nil || LongTests.suites.contains(test.unit)
        return isLong ? longTestSeconds : testSeconds
    }
}
