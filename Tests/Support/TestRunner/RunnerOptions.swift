import Foundation
import TestRun

/// The options on the command line.
struct RunnerOptions {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var filters = [String]()
    private(set) var buildSeconds = 0.0
    private var expressions = [NSRegularExpression]()

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            guard let value = rest.popFirst() else { throw Failure(description: "\(option) needs a value") }
            switch option {
            case "--filter": filters.append(value)
            case "--build-seconds": buildSeconds = Double(value) ?? 0
            default: throw Failure(description: "unknown option \(option)")
            }
        }
        expressions = try filters.map { try NSRegularExpression(pattern: $0) }
    }
}

extension RunnerOptions {
    /// True if a filter finds something in the test's name, or if there is none.
    func chooses(_ test: TestID) -> Bool {
        let range = NSRange(test.text.startIndex..., in: test.text)
        return expressions.isEmpty
            || expressions.contains { $0.firstMatch(in: test.text, range: range) != nil }
    }
}
