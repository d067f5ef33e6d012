import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@testable import YapCloudKit

/// What the cloud never answers.
@Suite struct EngineDeadlineTests {
    private let key = EngineBench.database
    private let zoneID = EngineBench.zoneID
    private static let limit = SyncEngine.operationSecondsMax * 1000

    @Test func anOperationThatIsNeverAnsweredIsCancelledAndRepeated() throws {
        var bench = EngineBench()
        _ = bench.count(1)
        let first = bench.attempt
        #expect(bench.wake == bench.now + Self.limit)
        bench.now += Self.limit - 1
        #expect(bench.handle(.tick) == [])
        bench.now += 1
        #expect(bench.handle(.tick) == ["cancel \(first)", "complete"])
        #expect(bench.told.map(\.code) == [.networkFailure])
        #expect(bench.applied(1) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"])
        #expect(bench.attempt > first)
    }

    @Test func anAnswerThatComesAfterItsDeadlineIsIgnored() throws {
        var bench = EngineBench()
        _ = bench.count(1)
        let first = bench.attempt
        bench.now += Self.limit
        _ = bench.handle(.tick)
        let late = SendReply(items: [(bench.item("0", .save, nil), bench.saved("0"))])
        #expect(bench.handle(.sent(key, late), attempt: first) == [])
        _ = bench.applied(1)
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"])
        let second = bench.attempt
        #expect(bench.handle(.sent(key, late), attempt: first) == [], "the second is still under way")
        #expect(bench.handle(.sent(key, late), attempt: second) == ["complete"])
        #expect(bench.handle(.sent(key, late), attempt: second) == [], "it was answered")
        #expect(bench.completions.map(\.saved.count) == [0, 1])
    }

    @Test("92 (app). an operation that is never answered fails like any other")
    func anUnansweredOperationFailsForTheApp() {
        var bench = EngineBench(.app)
        _ = bench.count(1)
        let first = bench.attempt
        bench.now += Self.limit
        #expect(bench.handle(.tick) == ["cancel \(first)", "complete"])
        #expect(bench.applied(1) == [])
        #expect(bench.engine.suspendCount == 1 && bench.told.map(\.code) == [.networkFailure])
        #expect(bench.suspend(by: -1) == ["send - 400"])
    }

    @Test func fetchesZonesAndSubscriptionsHaveDeadlinesToo() throws {
        for (first, events) in [
            ("fetch Z", [SyncEvent.follow(key, zoneID, mayBeMissing: false)]),
            ("create Z", [.follow(key, zoneID, mayBeMissing: true)]),
            ("subscribe", [.listen(key, isSaved: false)]),
        ] {
            var bench = EngineBench()
            for event in events { #expect(bench.handle(event).last == first) }
            bench.now += Self.limit
            #expect(bench.handle(.tick) == ["cancel \(bench.attempt)"])
            #expect(bench.engine.status.waitsForATime(because: .network), "\(first)")
            bench.now = try #require(bench.wake)
            #expect(bench.handle(.tick) == [first])
        }
    }

    @Test(
        "181. changes queued by a page are counted, although the fetch was abandoned before the page was reported"
    )
    func aLatePageStillCounts() throws {
        var bench = EngineBench()
        #expect(bench.handle(.follow(key, zoneID, mayBeMissing: false)) == ["fetch Z"])
        let fetch = bench.attempt
        bench.now += Self.limit
        #expect(bench.handle(.tick) == ["cancel \(fetch)"])
        let page = SyncEvent.pageApplied(key, zoneID, moreComing: false, QueueCount(pending: 1))
        #expect(bench.handle(page, attempt: fetch) == [])
        #expect(bench.engine.databases[key]?.count.pending == 1)
    }

    @Test func whatIsWrittenHereHasNoDeadline() {
        var bench = EngineBench()
        _ = bench.count(1)
        _ = bench.answer(bench.saved("0"))
        #expect(bench.wake == nil)
        bench.now += 10 * Self.limit
        #expect(bench.handle(.tick) == [])
        #expect(bench.applied(0) == [] && bench.engine.status.state == .idle)
    }
}
