extension RunBook {
    /// A process that has exceeded a limit.
    package struct Hang: Sendable, CustomStringConvertible {
        package let process: Int32
        package let test: TestID?
        package let words: String

        package var subject: String { test?.description ?? "a process between tests" }
        package var description: String { "\(subject) \(words)" }
    }

    /// The processes that have exceeded a limit.
    ///
    /// - Parameter slowdown: How many times the work that the machine can do at once is waiting: a body takes as much
    ///   longer.
    package func hangs(at now: Double, slowdown: Double = 1) -> [Hang] {
        let limits = limits.scaled(by: slowdown)
        return watches.sorted { $0.key < $1.key }.compactMap { process, watch in
            watch.hang(at: now, limits).map { Hang(process: process, test: watch.test, words: $0) }
        }
    }

    /// The tests that are running, the longest first.
    package func runningLines(at now: Double) -> [String] {
        watches.sorted { $0.value.since < $1.value.since }.map { process, watch in
            let name = watch.test?.description ?? "(between tests)"
            let arguments = watch.arguments.map { ", \($0)" } ?? ""
            return "\(name)\(arguments): since \(Text.seconds(now - watch.since)), process \(process)"
        }
    }

    package mutating func note(_ hang: Hang) {
        guard let test = hang.test else {
            return addFailure("hung: \(hang)")
        }
        markHung(test, "hung: \(hang.words)")
    }
}
