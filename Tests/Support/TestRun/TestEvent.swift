import Foundation

/// A line of Swift Testing's event stream, version 0.
package struct TestEvent: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case testStarted, testCaseStarted, testCaseEnded, issueRecorded, testEnded, testSkipped, testCancelled
        case runEnded
    }

    package let kind: Kind
    /// The test function. Nil for a suite and for the run.
    package let test: TestID?
    /// Seconds of the monotonic clock.
    package let at: Double
    /// Human-readable messages. Those of an issue are the issue and its comments.
    package let messages: [String]
    /// File and line of an issue.
    package let place: String?
    /// True for an issue inside `withKnownIssue`.
    package let isKnown: Bool

    /// Returns nil for a line that isn't one of these events.
    package init?(line: String) {
        guard let record = try? JSONDecoder().decode(Record.self, from: Data(line.utf8)),
            let kind = record.payload.kind.flatMap(Kind.init), let instant = record.payload.instant
        else { return nil }
        let payload = record.payload
        self.kind = kind
        test = payload.testID.flatMap(TestID.init)
        at = instant.absolute
        messages = payload.messages?.map(\.text) ?? []
        place = payload.issue?.sourceLocation.map { "\($0.fileID):\($0.line)" }
        isKnown = payload.issue?.isKnown ?? false
    }

    private struct Record: Decodable {
        let payload: Payload
    }

    private struct Payload: Decodable {
        let kind: String?
        let testID: String?
        let instant: Instant?
        let messages: [Message]?
        let issue: Issue?
    }

    private struct Instant: Decodable {
        let absolute: Double
    }

    private struct Message: Decodable {
        let text: String
    }

    private struct Issue: Decodable {
        let isKnown: Bool?
        let sourceLocation: Place?
    }

    private struct Place: Decodable {
        let fileID: String
        let line: Int
    }
}
