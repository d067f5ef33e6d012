import Foundation

// Benchmarks [FILTER] [--output FILE]: the lines whose names begin with FILTER, printed, and written to FILE.

var filter = ProcessInfo.processInfo.environment["FILTER"] ?? ""
var output = "bench.json"
var arguments = CommandLine.arguments.dropFirst()
while let argument = arguments.popFirst() {
    if argument == "--output", let path = arguments.popFirst() {
        output = path
    } else {
        filter = argument
    }
}

let lines = try (databaseLines() + commitLines() + coderLines()).filter { $0.name.hasPrefix(filter) }
guard !lines.isEmpty else {
    print("No line's name begins with \"\(filter)\".")
    exit(2)
}
print("line                         ours (spread)   reference (spread)    ratio")
var results: [LineResult] = []
for line in lines {
    let result = try await LineResult(line)
    print(result.text)
    results.append(result)
}
try Data(("{\n" + results.map(\.json).joined(separator: ",\n") + "\n}\n").utf8).write(
    to: URL(fileURLWithPath: output))
let failed = results.filter { !$0.passes }.map(\.line.name)
if !failed.isEmpty { print("Bars not met: \(failed.joined(separator: ", "))") }
