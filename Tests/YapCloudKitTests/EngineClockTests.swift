import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@testable import YapCloudKit

/// What waits for a time: it comes, and nothing goes round in circles meanwhile.
@Suite struct EngineClockTests {
    private let key = EngineBench.database
    private let zoneID = EngineBench.zoneID

    /// A bench whose upload failed on the way and waits.
    private func paused() -> EngineBench {
        var bench = EngineBench()
        _ = bench.count(1)
        _ = bench.answered(.failed(CKError(.networkFailure)))
        return bench
    }

    @Test(
        "122. the pause of an unused account sets no timer, and has ended when it is used again"
    )
    func aPauseOfAnotherAccountSetsNoTimer() throws {
        var bench = paused()
        let over = try #require(bench.wake)
        _ = bench.handle(.useAccount(2, isFetched: true))
        #expect(bench.wake == nil)
        bench.now = over
        #expect(bench.handle(.tick) == [])
        #expect(bench.wake == nil)
        #expect(bench.handle(.useAccount(1, isFetched: true)) == ["send - 400"])
    }

    @Test func aClockThatIsSetBackMakesNoPauseLonger() throws {
        var bench = paused()
        let length = try #require(bench.wake) - bench.now
        bench.now += length - 86_400_000
        #expect(bench.handle(.tick) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.now <= 1_000_000 + 2 * length - 86_400_000)
        #expect(bench.handle(.tick) == ["send - 400"])
        // Nor a deadline.
        bench.now -= 86_400_000
        #expect(bench.handle(.tick) == [])
        #expect(bench.wake == bench.now + SyncEngine.operationSecondsMax * 1000)
    }

    @Test("88. a server that also rejects the fetch without a token is retried after growing pauses")
    func aServerThatRefusesEveryTokenIsNotAskedAtOnce() throws {
        var bench = EngineBench()
        let expired = SyncEvent.fetchFailed(key, zoneID, CKError(.changeTokenExpired))
        #expect(bench.handle(.follow(key, zoneID, mayBeMissing: false)) == ["fetch Z"])
        #expect(bench.handle(expired) == ["drop expired"])
        #expect(bench.applied(0) == ["fetch Z"])
        #expect(bench.handle(expired) == ["drop expired"])
        #expect(bench.applied(0) == [])
        #expect(bench.told.map(\.code) == [.changeTokenExpired])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["fetch Z"])
        // One that was answered meanwhile may be refused like the first.
        #expect(bench.handle(.pageApplied(key, zoneID, moreComing: true, QueueCount())) == ["fetch Z"])
        #expect(bench.handle(expired) == ["drop expired"])
        #expect(bench.applied(0) == ["fetch Z"])
    }
}
