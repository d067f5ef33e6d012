import CloudStore
import Foundation
import SQLiteTestSupport
import System
import TestSeed
import Testing
import Waiting

/// The real server is killed under load again and again, with a ledger outside it.
@Suite(.serialized) struct KillTests {
    static let killsCount = 20
    static let writersCount = 6

    @Test func aServerKilledUnderLoadHasEveryAcknowledgedRecordAndNoRefusedOne() async throws {
        let seed = TestSeed.value
        print("server kills: seed \(seed)")
        try await onThread {
            let folder = try ServerFolder(accounts: ["ada"])
            let random = SeededRandomSource(seed: seed)
            let writers = (0..<Self.writersCount).map {
                LedgerWriter(name: "w\($0)", token: folder.tokens[0], seed: seed &+ UInt64($0))
            }
            try prepare(folder, writers)
            for _ in 1...Self.killsCount {
                try kill(folder, writers, afterSteps: random.next(in: 4..<160))
            }
            let wrong = try check(folder, writers)
            #expect(wrong.isEmpty, "seed \(seed)")
            let entries = writers.flatMap(\.entries)
            let found = entries.compactMap(\.foundCount)
            print(
                "server kills: \(Self.killsCount), \(entries.count { $0.outcome == .acknowledged }) acknowledged, "
                    + "\(entries.count { $0.outcome == .refused }) refused, \(found.count) unanswered "
                    + "(\(found.count { $0 == 3 }) of them were there)")
            #expect(entries.count { $0.outcome == .acknowledged } > Self.killsCount)
        }
    }

    private func prepare(_ folder: ServerFolder, _ writers: [LedgerWriter]) throws {
        let server = try ServerProcess(folder: folder.path)
        defer { server.end() }
        let port = try server.port()
        try RawDevice(port: port, token: folder.tokens[0]).makeZone(LedgerWriter.zone)
        for writer in writers { try writer.makePoison(port: port) }
    }

    /// One life of the server: the writers settle what the last one left open, and write until it is killed, after a
    /// number of sent requests and responses.
    private func kill(_ folder: ServerFolder, _ writers: [LedgerWriter], afterSteps steps: Int) throws {
        let server = try ServerProcess(folder: folder.path)
        defer { server.end() }
        let port = try server.port()
        for writer in writers { try writer.settle(port: port) }
        let stepsCount = WatchedValue(0)
        try onThreads(writers.count + 1) { index in
            if index < writers.count {
                return try writers[index].writeUntilItDies(port: port) { stepsCount.change { $0 += 1 } }
            }
            defer { server.end() }
            try stepsCount.wait { $0 >= steps }
        }
    }

    private func check(_ folder: ServerFolder, _ writers: [LedgerWriter]) throws -> [String] {
        let server = try ServerProcess(folder: folder.path)
        defer { server.end() }
        let port = try server.port()
        for writer in writers { try writer.settle(port: port) }
        return try writers.flatMap { try $0.check(port: port) }
    }
}
