import Foundation
import OwnThreads
import SQLite
import SQLiteTestSupport
import Testing
import Yap

extension ChildProcess {
    /// The program of `Tests/Support/CrashChild`, which commits numbered groups to the file until it is killed.
    static func crashChild(_ path: String) throws -> ChildProcess {
        let program = try #require(Bundle.main.executableURL).deletingLastPathComponent()
            .appendingPathComponent("CrashChild").path
        return try ChildProcess(program, [path])
    }
}

/// Another process commits to the file without a pause, while this one reads and writes it.
@Suite(.onOwnThreads) struct TwoProcessesTests {
    private static let roundsCount = 20

    @Test func twoProcessesReadAndWriteOneFile() throws {
        let folder = try TemporaryFolder()
        let path = folder.file("test.yap")
        var options = YapDatabaseOptions()
        // SQLite's waiting is not fair, and the child leaves the lock free for moments only.
        options.busyTimeoutMilliseconds = 60_000
        let database = try YapDatabase(path: path, options: options) { configuration in
            for name in ["rows", "last", "ours"] { configuration.register(Int.self, inCollection: name) }
        }
        let connection = database.newConnection()
        let child = try ChildProcess.crashChild(path)
        defer {
            child.kill()
            while child.read() != nil {}
            _ = child.wait()
        }
        var output: [UInt8] = []
        for round in 1...Self.roundsCount {
            output += try #require(child.read())
            let lines = String(decoding: output, as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            let acknowledged = lines.dropLast().compactMap { Int($0) }.last ?? 0
            let last = try connection.blocking.read { try wholeGroup($0) }
            #expect(last >= acknowledged, "what the other process committed is seen at once")
            let ours = try connection.blocking.readWrite { transaction in
                #expect(try wholeGroup(transaction) >= last)
                let ours = try transaction.object(Int.self, forKey: "count", inCollection: "ours") ?? 0
                try transaction.setObject(ours + 1, forKey: "count", inCollection: "ours")
                return ours + 1
            }
            #expect(ours == round)
        }
        child.kill()
        let count = try connection.blocking.read {
            try $0.object(Int.self, forKey: "count", inCollection: "ours")
        }
        #expect(count == Self.roundsCount)
        try database.blocking.close()
        #expect(try Connection(path: path).integrityCheck() == [])
    }

    /// The number of the child's newest group, all rows of which must be in the same snapshot.
    private func wholeGroup(_ transaction: YapDatabaseReadTransaction) throws -> Int {
        let last = try transaction.object(Int.self, forKey: "last", inCollection: "last") ?? 0
        for row in 0..<5 where last > 0 {
            let value = try transaction.object(Int.self, forKey: "\(last)-\(row)", inCollection: "rows")
            #expect(value == last)
        }
        return last
    }
}
