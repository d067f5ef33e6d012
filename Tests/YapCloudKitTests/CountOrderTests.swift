import CloudKit
import Foundation
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCloudKit

/// The queue is counted on two threads: with each commit of the app, and in each transaction of the sync. What was
/// counted earlier may be told later.
@Suite struct CountOrderTests {
    private let key = EngineBench.database
    private let zoneID = EngineBench.zoneID
    private var bench = EngineBench()

    private func count(_ pending: Int, at moment: CountMoment) -> QueueCount {
        var count = QueueCount(pending: pending)
        count.moment = moment
        return count
    }

    @Test("164. an edit that is committed between a page and the telling of it is sent")
    mutating func anEditBetweenAPageAndTheTellingOfItIsSent() {
        #expect(bench.handle(.follow(key, zoneID, mayBeMissing: false)) == ["fetch Z"])
        // Commit 5 is the page, on top of 4; commit 6 is the edit.
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 6)))) == [])
        let page = count(0, at: .writing(onTopOf: 4))
        #expect(bench.handle(.pageApplied(key, zoneID, moreComing: false, page)) == ["send - 400"])
        #expect(bench.engine.status.state == .syncing && bench.engine.status.pendingCount == 1)
    }

    @Test("164. a count from before a page doesn't take the place of the page's") mutating func anOldCount() {
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 4)))) == ["send - 400"])
        #expect(bench.handle(.sent(key, SendReply(items: []))) == ["complete"])
        #expect(bench.handle(.applied(key, count(0, at: .writing(onTopOf: 4)))) == [])
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 4)))) == [])
        #expect(bench.engine.status.state == .idle)
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 5)))) == ["send - 400"])
    }

    @Test("164. a change queued while the pending ones are blocked is sent at once")
    mutating func anEditBesideWhatCannotGo() {
        #expect(bench.count(1) == ["send - 400"])
        #expect(bench.handle(.counted(key, count(2, at: .reading(snapshot: 6)))) == [])
        let unreadable = count(2, at: .writing(onTopOf: 4))
        #expect(bench.handle(.nothingToSend(key, unreadable)) == ["send - 400"])
        #expect(bench.told.isEmpty)
    }

    @Test mutating func countsOfAnotherFileBeginAnew() {
        #expect(bench.handle(.counted(key, count(0, at: .reading(snapshot: 90)))) == [])
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 2)))) == [])
        #expect(bench.handle(.counted(key, count(1, at: .reading(snapshot: 2, start: 2)))) == ["send - 400"])
    }

    @Test func momentsAreOrderedAsTheirTransactions() throws {
        let folder = try TemporaryFolder()
        let database = try YapDatabase(path: folder.path + "/a.sqlite") {
            $0.register(Int.self, inCollection: "a")
        }
        let connection = database.newConnection()
        func reading() throws -> CountMoment {
            try connection.blocking.read { .reading(snapshot: $0.snapshot) }
        }
        func writing(_ value: Int?) throws -> CountMoment {
            try connection.blocking.readWrite { transaction in
                if let value { try transaction.setObject(value, forKey: "k", inCollection: "a") }
                return .writing(onTopOf: transaction.snapshot)
            }
        }
        let moments = [
            try reading(), try writing(1), try reading(), try writing(2), try writing(3), try reading(),
        ]
        #expect(zip(moments, moments.dropFirst()).allSatisfy { $0 < $1 })
        // What changes nothing is after what it saw, and before whatever comes next.
        let (before, unchanged) = (try reading(), try writing(nil))
        #expect(before < unchanged)
        _ = try writing(4)
        let after = try reading()
        #expect(unchanged < after)
        try database.blocking.close()
    }
}
