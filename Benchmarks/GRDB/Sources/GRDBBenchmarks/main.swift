import Foundation

// GRDBBenchmarks [FILTER]: the lines whose names begin with FILTER. A ratio above 1 says that Yap did more in a second.

let filter = CommandLine.arguments.dropFirst().first ?? ""
let lines = (databaseLines() + commitLines() + queryLines()).filter { $0.name.hasPrefix(filter) }
guard !lines.isEmpty else {
    print("No line's name begins with \"\(filter)\".")
    exit(2)
}
print("line                            Yap (spread)       GRDB (spread)    ratio")
var isWhole = true
for line in lines {
    do {
        print(try await LineResult(line).text)
    } catch {
        print("\(line.name): could not be measured: \(error)")
        isWhole = false
    }
}
exit(isWhole ? 0 : 1)
