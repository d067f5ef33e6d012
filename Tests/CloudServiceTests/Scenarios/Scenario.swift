import CloudWire
import Testing

/// One request and what must become of it. Read from text, so that the table stays a table:
///
///     == what is shown
///     @ setting                      (optional: another world than the usual one)
///     > who METHOD database/endpoint?query
///     the body
///     < status | must contain | must contain | !must not contain
///     | more of these
///     * what changed                 (nothing, when the line is not there)
///
/// `$tag(todos/a)` in a body is the record's change tag, `$token(todos)` the zone's token, `$token()` the database's.
/// `$notification()`, `$device()` and `$receipt()` are what the setting has made. A device's endpoints have the
/// database `device`.
struct Scenario: CustomTestStringConvertible, Sendable {
    var title = ""
    var setting: String?
    var who = ""
    var method = "POST"
    var database = ""
    var endpoint = ""
    var query: [(name: String, value: String)] = []
    var body = ""
    var status = 0
    var contains: [String] = []
    var lacks: [String] = []
    /// Sorted, as `+todos/a` made, `~todos/a` changed, `-todos/a` gone.
    var changes: [String] = []

    var testDescription: String { title }

    static func read(_ text: String) -> [Scenario] {
        var scenarios: [Scenario] = []
        for line in text.split(separator: "\n").map(String.init) {
            if line.hasPrefix("== ") {
                scenarios.append(Scenario(title: String(line.dropFirst(3))))
                continue
            }
            guard var scenario = scenarios.popLast() else { continue }
            switch line.prefix(2) {
            case "@ ": scenario.setting = String(line.dropFirst(2))
            case "> ": scenario.readTarget(line.dropFirst(2))
            case "< ": scenario.readAnswer(line.dropFirst(2))
            case "| ": scenario.readParts(line.dropFirst(2))
            case "* ": scenario.changes = line.dropFirst(2).split(separator: " ").map(String.init).sorted()
            default: scenario.body += line
            }
            scenarios.append(scenario)
        }
        return scenarios
    }

    private mutating func readTarget(_ text: Substring) {
        let words = text.split(separator: " ").map(String.init)
        (who, method) = (words[0], words[1])
        let parts = words[2].split(separator: "?", maxSplits: 1)
        let path = parts[0].split(separator: "/", maxSplits: 1).map(String.init)
        (database, endpoint) = (path[0], path[1])
        guard parts.count > 1 else { return }
        query = parts[1].split(separator: "&").map { item in
            let pair = item.split(separator: "=", maxSplits: 1).map(String.init)
            return (pair[0], pair[1])
        }
    }

    private mutating func readAnswer(_ text: Substring) {
        let parts = text.split(separator: "|", maxSplits: 1)
        status = Int(parts[0].filter { $0 != " " }) ?? 0
        if parts.count > 1 { readParts(parts[1]) }
    }

    private mutating func readParts(_ text: Substring) {
        let parts = text.split(separator: "|").map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }
        contains += parts.filter { !$0.hasPrefix("!") }
        lacks += parts.filter { $0.hasPrefix("!") }.map { String($0.dropFirst()) }
    }
}
