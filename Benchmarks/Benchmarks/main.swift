import Foundation

// Benchmarks [FILTER] [--output FILE]: the lines whose names begin with FILTER, printed, and written to FILE.
// The exit status is 1 when a line missed its bar or could not be measured.

if let code = await ChildMode.run(Array(CommandLine.arguments.dropFirst())) { exit(code) }

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

let all =
    try databaseLines() + indexLines() + searchLines() + vectorLines() + viewLines() + fillLines()
    + [growthLine()]
    + commitLines() + changeReaderLines() + coderLines()
    + serviceLines()
    + frameworkLines()
    + syncLines() + checksumLines() + dashboardLines()
let lines = all.filter { $0.name.hasPrefix(filter) }
guard !lines.isEmpty else {
    print("No line's name begins with \"\(filter)\".")
    exit(2)
}
print("line                           ours (spread)  reference (spread)    ratio")
var results: [LineResult] = []
var failed: [String] = []
for line in lines {
    do {
        let result = try await LineResult(line)
        print(result.text)
        results.append(result)
        if !result.passes { failed.append(line.name) }
    } catch {
        print("\(line.name): could not be measured: \(error)")
        failed.append(line.name)
    }
}
try Data(("{\n" + results.map(\.json).joined(separator: ",\n") + "\n}\n").utf8).write(
    to: URL(fileURLWithPath: output))
if !failed.isEmpty {
    print("Bars not met: \(failed.joined(separator: ", "))")
    exit(1)
}
