import ExtensionModel
import SQLiteTestSupport
import System
import Yap

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

// One life of a process with extensions: opens the file, registers those whose bit is set, and writes drawn
// transactions. It prints each number once its commit has returned, and at its end "end". Every few transactions it
// compares the extensions with the rows.
// Usage: ExtensionChild FILE SEED FILLER_BYTES BITS LIFE_SEED TRANSACTIONS [KILLED_AT]
// KILLED_AT is the number of the write, sync or truncation at which it is killed.

func say(_ line: String) {
    let line = line + "\n"
    guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(2) }
}

func complain(_ text: String) -> Never {
    _ = (text + "\n").withCString { write(2, $0, strlen($0)) }
    say(text)
    exit(1)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 6, let seed = UInt64(words[1]), let fillerBytesMax = Int(words[2]),
    let bits = Int(words[3]), let lifeSeed = UInt64(words[4]), let transactionsCount = Int(words[5])
else { complain("usage: ExtensionChild FILE SEED FILLER_BYTES BITS LIFE_SEED TRANSACTIONS [KILLED_AT]") }

do {
    let vfs = FaultVFS()
    if words.count > 6, let place = Int(words[6]) {
        let count = Lock(0)
        vfs.kill { _ in
            count.withLock { count in
                count += 1
                return count == place
            }
        }
    }
    var options = YapDatabaseOptions()
    options.vfsName = vfs.name
    // SQLite's waiting is not fair, and others leave the lock free for moments only.
    options.busyTimeoutMilliseconds = 60_000
    // So small that the log is written back and cut again and again.
    options.logBytesMax = 256 << 10
    let draw = ItemDraw(seed: seed, fillerBytesMax: fillerBytesMax)
    let life = SeededRandomSource(seed: lifeSeed)
    let instance = try ItemInstance(path: words[0], options)
    try instance.extensions.register(bits, in: instance.database, besideOthers: true)
    say("registered")
    var replay = ItemReplay(draw)
    for _ in 0..<transactionsCount {
        let isUndone = life.next(in: 0..<8) == 0
        let number = try instance.write(draw, isUndone: isUndone)
        if !isUndone { say("\(number)") }
        if life.next(in: 0..<6) == 0 {
            let differences = try instance.differences(&replay)
            if !differences.isEmpty { complain("differs after \(number): \(differences)") }
        }
    }
    if life.next(in: 0..<2) == 0 { try instance.close() }
    say("end")
} catch {
    complain("fails: \(error)")
}
