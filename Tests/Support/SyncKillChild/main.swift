import Glibc
import SyncDevices
import System

// One life of a device: opens its file, commits, syncs over HTTP, commits again. It says what it is about to commit and
// what it has committed, and is killed at the failpoint that it is given.
// Usage: SyncKillChild FILE PORT TOKEN USE VERSION FIRST_COUNT SEED [ACTIVITY/ACTION:NUMBER]

func say(_ line: String) {
    let line = line + "\n"
    guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(2) }
}

func complain(_ text: String) -> Never {
    _ = (text + "\n").withCString { write(2, $0, strlen($0)) }
    exit(1)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 7, let port = Int(words[1]), let use = KillDevice.Use(rawValue: words[3]),
    let version = Int(words[4]), let firstCount = Int(words[5]), let seed = UInt64(words[6])
else { complain("usage: SyncKillChild FILE PORT TOKEN USE VERSION FIRST_COUNT SEED [POINT]") }

do {
    let failpoints = Failpoints(words.count > 7 ? words[7] : nil)
    var life = KillLife(seed: seed, firstCount: firstCount)
    try life.live(
        {
            try KillDevice(
                path: words[0], port: port, token: words[2], use: use, version: version,
                failpoints: failpoints)
        }, say)
    for (label, count) in failpoints.counts.sorted(by: { $0.key < $1.key }) {
        say("passed \(label) \(count)")
    }
    say("end")
} catch {
    complain("\(error)")
}
