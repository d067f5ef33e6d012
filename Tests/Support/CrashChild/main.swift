import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// Commits numbered groups of rows and prints each number once its commit has returned, until it is killed.
// Usage: CrashChild FILE

let groupRowsCount = 5
let groupsKept = 20
let commitsMax = 100_000

func complain(_ text: String) -> Never {
    _ = text.withCString { write(2, $0, strlen($0)) }
    exit(1)
}

guard CommandLine.arguments.count == 2 else { complain("usage: CrashChild FILE\n") }

do {
    var options = YapDatabaseOptions()
    // So small that the log is written back and cut again and again.
    options.logBytesMax = 64 << 10
    let database = try YapDatabase(path: CommandLine.arguments[1], options: options) { configuration in
        configuration.register(Int.self, inCollection: "rows")
        configuration.register(Int.self, inCollection: "last")
    }
    let connection = database.newConnection()
    let last = try connection.blocking.read { transaction in
        try transaction.object(Int.self, forKey: "last", inCollection: "last") ?? 0
    }
    for number in last + 1...last + commitsMax {
        try connection.blocking.readWrite { transaction in
            for row in 0..<groupRowsCount {
                try transaction.setObject(number, forKey: "\(number)-\(row)", inCollection: "rows")
                try transaction.removeObject(forKey: "\(number - groupsKept)-\(row)", inCollection: "rows")
            }
            try transaction.setObject(number, forKey: "last", inCollection: "last")
        }
        let line = "\(number)\n"
        guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(0) }
    }
} catch {
    complain("\(error)\n")
}
