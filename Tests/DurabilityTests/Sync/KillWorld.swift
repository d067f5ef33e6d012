import CloudServer
import CloudService
import CloudStore
import Foundation
import SQLite
import SQLiteTestSupport
import SyncDevices
import System
import Testing

/// A server, a device that is killed again and again, and another device of the same user.
final class KillWorld {
    private static let token = "ada's token"

    let use: KillDevice.Use
    private(set) var kills: [String: Int] = [:]
    private(set) var failures: [String] = []
    private let random: SeededRandomSource
    private let folder: TemporaryFolder
    private let server: CloudServer
    private let store: MemoryCloudStore
    private let other: KillDevice
    private let ledger = Lock(KillLedger())
    private var version = 1
    private var nextCount = 1
    private var notesCount = 0
    /// How often a life passes each failpoint.
    private var passed: [String: Int] = [:]
    /// How often the device was to be killed at each.
    private var tries: [String: Int] = [:]

    init(_ use: KillDevice.Use, seed: UInt64) throws {
        self.use = use
        random = SeededRandomSource(seed: seed)
        folder = try TemporaryFolder()
        store = MemoryCloudStore()
        let ledger = ledger
        let watched = WatchedStore(store) { rows in
            ledger.withLock { for row in rows { $0.wrote(row) } }
        }
        server = CloudServer(
            CloudService(
                store: watched, clock: SystemTimeSource(), random: SystemRandomSource(),
                users: [Self.token: ServiceUser(userRecordName: "_ada")]))
        try server.start()
        other = try KillDevice(
            path: folder.file("other.yap"), port: server.port, token: Self.token, use: .cloudSync, version: 1)
    }

    func end() throws {
        try other.close()
        server.stop()
    }

    var committedCount: Int { ledger.withLock { $0.committedCount } }
    var replacedCount: Int { ledger.withLock { $0.replacedCount } }

    /// Kills the device so many times, each time at a point that the seed draws.
    func run(killsCount: Int) throws {
        try measure()
        var lives = 0
        while kills.values.reduce(0, +) < killsCount, lives < 3 * killsCount, failures.isEmpty {
            lives += 1
            try round()
        }
    }

    /// Lets the device live without being killed, and learns which points there are.
    private func measure() throws {
        for _ in 0..<2 {
            try changeElsewhere()
            let (lines, end) = try live(at: nil)
            try recover(lines, "life without a kill")
            guard end == 0, lines.contains("end") else { throw ChildProcess.Failure(words: "\(lines)") }
            for words in lines.map({ $0.split(separator: " ") }) where words.first == "passed" {
                let (label, count) = (String(words[1]), Int(words[2]) ?? 0)
                passed[label] = max(passed[label] ?? 0, count)
            }
            version += 1
        }
    }

    private func round() throws {
        try changeElsewhere()
        if random.next(in: 0..<2) == 0 { version += 1 }
        // The points take turns, and those that lives seldom pass more of them.
        func turns(_ label: String) -> Int { 2 * (kills[label] ?? 0) + (tries[label] ?? 0) }
        let least = passed.keys.map(turns).min()
        let labels = passed.keys.filter { turns($0) == least }.sorted()
        let label = labels[random.next(in: 0..<labels.count)]
        tries[label, default: 0] += 1
        // The first life makes the tables: many later ones pass fewer points than it did.
        let most = (passed[label] ?? 1) / (random.next(in: 0..<3) == 0 ? 1 : 4)
        let number = random.next(in: 0..<max(1, most)) + 1
        let (lines, end) = try live(at: "\(label):\(number)")
        if end == SIGKILL { kills[label, default: 0] += 1 }
        try recover(lines, "killed at \(label):\(number), version \(version)")
    }

    /// What the other device does meanwhile.
    private func changeElsewhere() throws {
        var edits: [(key: String, edit: KillDevice.Edit)] = []
        for key in KillLife.sharedKeys where random.next(in: 0..<4) > 0 {
            notesCount += 1
            let text = random.next(in: 0..<2) == 0 ? "theirs \(notesCount)" : nil
            edits.append((key, .note("note \(notesCount)", text: text)))
        }
        try other.commit(edits)
        if !(try other.syncToTheEnd()) { failures.append("the other device doesn't come to rest") }
    }

    /// One life of the device in a process of its own: what it said, and the signal that ended it.
    private func live(at point: String?) throws -> (lines: [Substring], signal: Int32) {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("SyncKillChild").path
        let seed = random.next()
        let child = try ChildProcess(
            program,
            [
                folder.file("device.yap"), "\(server.port)", Self.token, use.rawValue, "\(version)",
                "\(nextCount)", "\(seed)",
            ] + (point.map { [$0] } ?? []))
        nextCount += 100
        var output: [UInt8] = []
        while let bytes = child.read() { output += bytes }
        let signal = child.wait()
        // A line that was not ended was not said.
        let whole = output.prefix((output.lastIndex(of: 0x0A) ?? -1) + 1)
        return (String(decoding: whole, as: UTF8.self).split(separator: "\n"), signal)
    }

    /// The device's next life, in this process: nothing is lost, and all comes to rest.
    private func recover(_ lines: [Substring], _ comment: String) throws {
        var found: [String] = []
        let device = try KillDevice(
            path: folder.file("device.yap"), port: server.port, token: Self.token, use: use, version: version)
        let counts = try device.items().mapValues(\.count)
        ledger.withLock { $0.lived(lines, counts: counts) }
        // The second time each hears what the other sent last.
        for _ in 0..<2 {
            if !(try device.syncToTheEnd()) {
                found.append("the device is \(device.status), \(try device.pendingCount) change-sets wait")
            }
            if !(try other.syncToTheEnd()) { found.append("the other device is \(other.status)") }
        }
        ledger.withLock { $0.settle() }
        let (mine, theirs) = (try device.items(), try other.items())
        for key in Set(mine.keys).union(theirs.keys).sorted() {
            let both = [mine[key], theirs[key]].map { $0.map { "\($0)" } ?? "absent" }
            if mine[key] != theirs[key] { found.append("\(key): \(both[0]), and elsewhere \(both[1])") }
        }
        try device.close()
        let damage = try Connection(path: folder.file("device.yap")).integrityCheck()
        found += damage + ledger.withLock { $0.failures }
        if !found.isEmpty { failures += ["\(use.rawValue), \(comment)"] + found + lines.map { "  " + $0 } }
    }
}
