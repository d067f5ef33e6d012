import CloudService
import CloudWire

/// What must hold of every answer, whatever was asked.
public struct AnswerCheck: Sendable {
    /// Words and names of an error: a part of the request comes back, and never much more than that.
    static let errorBytesMax = 64 << 10

    private let errors: DocumentedErrors
    /// Reasons with which 503 is the right answer: a limit that PROTOCOL.md names, reached by all who ask together.
    /// No request of a run reaches another, as "Waiting" and "Rates" have them.
    private static let reasonsOfLater = ["is being built", "to be told", "try again"]

    /// Makes a check.
    public init(_ errors: DocumentedErrors) { self.errors = errors }

    /// What is wrong with an answer, in words. Also gives the answer back as a tree, where it is one.
    ///
    /// - Parameter allowsRates: whether 429 and 503 by the rates are right, as over HTTP.
    package func findings(
        _ response: WireResponse, to request: FuzzRequest, allowsRates: Bool = false
    ) -> (findings: [String], answer: JSONValue?) {
        guard let answer = try? JSONValue(json: response.body) else {
            return (["the answer is no JSON"], nil)
        }
        guard case .object(let members) = answer else { return (["the answer is no object"], answer) }
        var findings = try? sizes(response, answer)
        findings = (findings ?? []) + codes(in: answer)
        if String(decoding: response.body, as: UTF8.self).contains(FuzzWorld.secret) {
            findings?.append("the answer tells what Ada keeps to herself")
        }
        guard response.status != 200 else {
            if members["serverErrorCode"] != nil { findings?.append("an error with the status 200") }
            return (findings ?? [], answer)
        }
        guard case .string(let code)? = members["serverErrorCode"],
            case .string(let reason)? = members["reason"]
        else { return ((findings ?? []) + ["status \(response.status) without a code or a reason"], answer) }
        if errors.statuses[code] != response.status {
            findings?.append("\(code) with the status \(response.status)")
        }
        let isLater = response.status == 503 && Self.reasonsOfLater.contains { reason.contains($0) }
        let isRate = allowsRates && (response.status == 429 || response.status == 503)
        if response.status >= 500 && !isLater && !isRate || response.status == 429 && !isRate {
            findings?.append("\(response.status) for what is the client's fault: \(reason)")
        }
        return (findings ?? [], answer)
    }

    private func sizes(_ response: WireResponse, _ answer: JSONValue) throws -> [String] {
        let bytes = response.body.count
        if response.status != 200 {
            return bytes > Self.errorBytesMax ? ["an error of \(bytes) bytes"] : []
        }
        guard bytes > FuzzWorld.answerBytesMax, Self.recordsCount(in: answer) != 1 else { return [] }
        return ["an answer of \(bytes) bytes"]
    }

    /// Codes of items too are among those that are documented, and none says that the service failed.
    private func codes(in value: JSONValue) -> [String] {
        switch value {
        case .array(let elements): return elements.flatMap { codes(in: $0) }
        case .object(let members):
            var findings: [String] = []
            for (key, value) in members.sorted(by: { $0.key < $1.key }) {
                guard key == "serverErrorCode" else {
                    findings += codes(in: value)
                    continue
                }
                guard case .string(let code) = value, errors.statuses[code] != nil else {
                    findings.append("no documented code: \(value)")
                    continue
                }
                if code == "INTERNAL_ERROR" { findings.append("INTERNAL_ERROR") }
            }
            return findings
        default: return []
        }
    }

    private static func recordsCount(in value: JSONValue) -> Int {
        switch value {
        case .array(let elements): return elements.reduce(0) { $0 + recordsCount(in: $1) }
        case .object(let members):
            if members["recordName"] != nil, members["fields"] != nil { return 1 }
            return members.values.reduce(0) { $0 + recordsCount(in: $1) }
        default: return 0
        }
    }
}
