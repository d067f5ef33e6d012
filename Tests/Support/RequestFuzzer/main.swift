import Foundation
import RequestFuzz

// Asks a service so many requests that follow from a seed, in the checkout's folder, and says what did not hold:
//   RequestFuzzer [--seed N] [--requests N] [--findings N] [--trace]
// With --trace each request is told before it is asked: after a trap the last one is to blame.

private func value(of option: String) -> UInt64? {
    let arguments = CommandLine.arguments
    return arguments.firstIndex(of: option).flatMap { place in
        place + 1 < arguments.count ? UInt64(arguments[place + 1]) : nil
    }
}

private let seed = value(of: "--seed") ?? 1
private let requests = Int(value(of: "--requests") ?? 20_000)
private let traces = CommandLine.arguments.contains("--trace")
print("requests: seed \(seed)")
private let page = try String(contentsOfFile: "docs/PROTOCOL.md", encoding: .utf8)
private var run = FuzzRun(
    seed: seed, world: try FuzzWorld(seed: seed), check: AnswerCheck(DocumentedErrors(page: page)))
try run.run(
    requests: requests, findingsMax: Int(value(of: "--findings") ?? 10),
    watch: { if traces { print($0.description) } })
for finding in run.findings { print("requests: \(finding)") }
private let statuses = run.statuses.sorted { $0.key < $1.key }.map { "\($0.value) of \($0.key)" }
print(
    "requests: \(requests) of seed \(seed): \(statuses.joined(separator: ", ")); \(run.findings.count) findings"
)
exit(run.findings.isEmpty ? 0 : 1)
