import Foundation
import OwnThreads
import SQLite
import SQLiteTestSupport
import System
import TestSeed
import Testing
import Yap

/// A process that commits is killed at random moments, thirty times on one file.
@Suite(.onOwnThreads) struct KillTests {
    static let killsCount = 30

    @Test func aKilledProcessHasLostNoAcknowledgedCommitAndLeftNoneInPart() throws {
        let seed = TestSeed.value
        print("kills: seed \(seed)")
        let random = SeededRandomSource(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.file("test.yap")
        var last = 0
        for round in 1...Self.killsCount {
            let acknowledged = try killedChild(path, afterLines: random.next(in: 0..<120))
            #expect(acknowledged == Array(last + 1..<last + 1 + acknowledged.count))
            let found = try lastNumber(path)
            let newest = acknowledged.last ?? last
            // At most one more: committed, and killed before it could say so.
            #expect(found == newest || found == newest + 1, "seed \(seed), round \(round)")
            last = found
        }
        #expect(last > 0)
        print("kills: \(Self.killsCount), \(last) commits")
    }

    /// Runs the child until it has acknowledged so many commits, and a moment longer; all that it acknowledged.
    private func killedChild(_ path: String, afterLines count: Int) throws -> [Int] {
        let child = try ChildProcess.crashChild(path)
        var output: [UInt8] = []
        // The child goes on committing while this reads, so the kill meets it anywhere.
        while output.count(where: { $0 == 0x0A }) < count {
            guard let bytes = child.read() else { break }
            output += bytes
        }
        child.kill()
        while let bytes = child.read() { output += bytes }
        let signal = child.wait()
        #expect(signal == SIGKILL)
        let lines = String(decoding: output, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().compactMap { Int($0) }
    }

    /// The number of the last commit in the file, which must be sound, with the last twenty groups whole.
    private func lastNumber(_ path: String) throws -> Int {
        let database = try YapDatabase(path: path) { configuration in
            configuration.register(Int.self, inCollection: "rows")
            configuration.register(Int.self, inCollection: "last")
        }
        let connection = database.newConnection()
        let (last, keys) = try connection.blocking.read { transaction in
            (
                try transaction.object(Int.self, forKey: "last", inCollection: "last") ?? 0,
                try transaction.allKeys(inCollection: "rows")
            )
        }
        let groups = last == 0 ? [] : Array(max(1, last - 19)...last)
        let whole = groups.flatMap { group in (0..<5).map { "\(group)-\($0)" } }
        #expect(Set(keys) == Set(whole))
        #expect(database.snapshot == UInt64(last))
        try database.blocking.close()
        #expect(try Connection(path: path).integrityCheck() == [])
        return last
    }
}
