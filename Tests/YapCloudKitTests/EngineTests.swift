import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@testable import YapCloudKit

/// The engine alone: events in, actions out. Failures are its own here (`.automatic`).
@Suite struct EngineTests {
    static let database = EngineBench.database
    static let zoneID = EngineBench.zoneID
    typealias Bench = EngineBench

    @Test("89, 90. one operation at a time in a database; databases don't wait for one another")
    func oneOperationAtATime() {
        var bench = Bench()
        #expect(bench.count(2) == ["send - 400"])
        #expect(bench.count(3) == [])
        #expect(bench.count(1, in: DatabaseKey("public")) == ["send public 400"])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.count(4) == [], "the answer is not written down yet")
        #expect(bench.applied(2) == ["send - 400"])
        #expect(bench.answered(bench.saved("0"), left: 0) == [])
        #expect(bench.engine.status.state == .syncing && bench.engine.status.pendingCount == 1)
    }

    @Test("97, 98, 99. nothing is sent while suspended; requests in flight end and are recorded")
    func nothingIsSentWhileSuspended() {
        var bench = Bench()
        #expect(bench.suspend(by: 2) == [])
        #expect(bench.count(1) == [])
        #expect(bench.engine.status.waits(for: .suspended))
        #expect(bench.suspend(by: -1) == [])
        #expect(bench.suspend(by: -1) == ["send - 400"])
        #expect(bench.suspend(by: 1) == [])
        #expect(bench.answered(bench.saved("0")) == [])
        #expect(bench.suspend(by: -1) == ["send - 400"])
    }

    @Test(
        "97. a resume at 0 stays 0, is reported and starts nothing; counts too large for a number are clamped"
    )
    func aResumeTooMany() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.suspend(by: -1) == [])
        #expect(bench.engine.suspendCount == 0)
        #expect(bench.events == ["resumedTooOften"])
        _ = bench.suspend(by: .max)
        _ = bench.suspend(by: .max)
        #expect(bench.engine.suspendCount == .max)
        _ = bench.suspend(by: -1)
        #expect(bench.engine.suspendCount == .max - 1)
        #expect(bench.events.last == "suspendCountChanged(\(Int.max - 1))")
    }

    @Test("104. the server's pause is kept to, and not a moment less")
    func theServersPauseIsKeptTo() throws {
        var bench = Bench()
        _ = bench.count(1)
        let error = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 3.0)])
        #expect(bench.answered(.failed(error)) == [])
        let wake = try #require(bench.wake)
        #expect(wake >= bench.now + 3000)
        #expect(wake <= bench.now + 3300)
        let status = bench.engine.status
        #expect(status.state == .waiting && status.pause == .server(.requestRateLimited))
        #expect(status.pauseEndDate == Date(timeIntervalSince1970: Double(wake) / 1000))
        bench.now = wake - 1
        #expect(bench.handle(.tick) == [])
        #expect(bench.count(2) == [])
        bench.now = wake
        #expect(bench.handle(.tick) == ["send - 400"])
    }

    @Test("92, 104. pauses after network errors grow, with jitter, up to a limit; a success ends that")
    func pausesGrow() throws {
        var bench = Bench()
        _ = bench.count(1)
        var pauses: [Int64] = []
        for _ in 0..<12 {
            _ = bench.answered(.failed(CKError(.networkFailure)))
            let wake = try #require(bench.wake)
            pauses.append(wake - bench.now)
            bench.now = wake
            #expect(bench.handle(.tick) == ["send - 400"])
        }
        for (index, pause) in pauses.enumerated() {
            let full = min(1000 << Int64(index), BackOff.pauseMillisecondsMax)
            #expect(pause >= full / 2 && pause <= full)
        }
        #expect(Set(pauses.suffix(4)).count > 1, "no jitter")
        #expect(bench.told.map(\.code) == Array(repeating: .networkFailure, count: 12))
        _ = bench.answered(bench.saved("0"))
        _ = bench.answered(.failed(CKError(.networkFailure)))
        #expect(try #require(bench.wake) - bench.now <= 1000)
    }

    @Test("93, 94, 95. each item of a partially failed batch gets its own result")
    func eachItemGetsWhatIsItsOwn() throws {
        var bench = Bench()
        _ = bench.count(4)
        let actions = bench.answer(
            bench.saved("0"), .failed(Bench.conflict(tag: "t")), .failed(CKError(.batchRequestFailed)),
            .failed(CKError(.unknownItem)))
        #expect(actions == ["complete"])
        let completion = try #require(bench.completions.first)
        #expect(completion.saved.map(\.item.recordID.recordName) == ["0"])
        #expect(completion.conflicts.map(\.item.recordID.recordName) == ["1"])
        #expect(completion.recreated.map(\.recordID.recordName) == ["3"])
        #expect(bench.applied(3) == ["send - 400"])
    }

    @Test func aNewRecordThatTheServerCallsUnknownIsStuckAndNotMadeAgainForEver() throws {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.unknownItem)), sentTag: nil) == ["complete"])
        let completion = try #require(bench.completions.first)
        #expect(completion.recreated.isEmpty)
        #expect(completion.quarantined.map(\.isStuck) == [true])
    }

    @Test("95. a batch in which all blame another item is not sent again at once")
    func aBatchThatBlamesOthersWaits() {
        var bench = Bench()
        _ = bench.count(2)
        #expect(
            bench.answered(.failed(CKError(.batchRequestFailed)), .failed(CKError(.batchRequestFailed))) == []
        )
        #expect(bench.wake != nil)
    }

    @Test("103. a batch over the limit is halved until it fits, and one item alone is refused")
    func aBatchOverTheLimitIsHalved() {
        var bench = Bench()
        _ = bench.count(2)
        let error = CKError(.limitExceeded)
        #expect(bench.answered(.failed(error), .failed(error)) == ["send - 1"])
        #expect(bench.answer(.failed(error)) == ["complete"])
        #expect(bench.completions.last?.quarantined.count == 1)
        #expect(bench.applied(1) == ["send - 1"])
        #expect(bench.answered(bench.saved("0")) == ["send - 2"])
        #expect(bench.answered(bench.saved("0")) == ["send - 4"])
    }

    @Test("103. a batch has at most 400 items, and less than the 2 MB that a request may have")
    func aBatchHasItsLimits() {
        #expect(BatchLimits().itemsMax == 400)
        #expect(BatchLimits().bytesMax * 4 / 3 < 2_000_000)
    }

    @Test("105. the same conflict, again and again, ends as stuck; another version begins anew")
    func theSameConflictEndsAsStuck() {
        var bench = Bench()
        _ = bench.count(1)
        for _ in 0..<SyncEngine.identicalConflictsMax {
            #expect(bench.answered(.failed(Bench.conflict(tag: "t"))) == ["send - 400"])
            #expect(bench.completions.last?.conflicts.count == 1)
        }
        _ = bench.answered(.failed(Bench.conflict(tag: "u")))
        #expect(bench.completions.last?.conflicts.count == 1)
        for _ in 1..<SyncEngine.identicalConflictsMax {
            _ = bench.answered(.failed(Bench.conflict(tag: "u")))
        }
        #expect(bench.completions.last?.quarantined.isEmpty == true)
        _ = bench.answer(.failed(Bench.conflict(tag: "u")))
        #expect(bench.completions.last?.quarantined.first?.isStuck == true)
        let stuck = QueueCount(quarantined: [.stuck(recordName: "0")])
        #expect(bench.handle(.applied(Self.database, stuck)) == [])
        #expect(bench.engine.status.needs([.stuck(recordName: "0")]))
        #expect(bench.handle(.retry) == ["lift"])
        #expect(bench.applied(1) == ["send - 400"])
    }

    @Test("105. a conflict without the server's record is looked up by a fetch, after a pause")
    func aConflictWithoutTheServersRecord() throws {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == ["fetch Z"])
        _ = bench.handle(.pageApplied(Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1)))
        #expect(bench.answered(.failed(CKError(.serverRecordChanged))) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["fetch Z"])
    }

    /// The engine after a first fetch, with a change that waits and goes.
    private func sending() -> Bench {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == ["fetch Z"])
        let page = SyncEvent.pageApplied(
            Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1))
        #expect(bench.handle(page) == ["send - 400"])
        return bench
    }

    @Test(
        "174. a server that was put back: a conflict with an older version is merged after its zone was fetched"
    )
    func aConflictWithAnOlderVersionWaitsForTheFetch() {
        var bench = sending()
        let known = Date(timeIntervalSince1970: 1_000)
        func answer(_ modified: Date) -> [String] {
            let item = SyncItem(
                recordID: bench.id("0"), kind: .save, sequence: 1, incarnation: 1, sentTag: "7",
                knownModification: known)
            let conflict = Bench.conflict(tag: "3", modified: modified)
            return bench.handle(.sent(Self.database, SendReply(items: [(item, .failed(conflict))])))
        }
        #expect(answer(known - 1) == ["complete"])
        #expect(bench.completions.last?.conflicts.isEmpty == true)
        #expect(bench.applied(1) == ["fetch Z"])
        _ = bench.handle(.pageApplied(Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1)))
        // The fetch brought nothing: then it is a version like any other.
        #expect(answer(known - 1) == ["complete"])
        #expect(bench.completions.last?.conflicts.count == 1)
        _ = bench.applied(1)
        bench.engine.databases[Self.database]?.uploads.conflicts = [:]
        #expect(answer(known + 1) == ["complete"])
        #expect(bench.completions.last?.conflicts.count == 1)
    }

    @Test("167. a batch without a response is sent again before any fetch, but not forever")
    func aBatchWithoutAResponseIsSentBeforeAFetch() {
        var bench = sending()
        let lost = CKError(.networkFailure)
        for _ in 0..<DatabaseSyncState.Uploads.unansweredMax {
            #expect(bench.answer(.failed(lost), whole: lost) == ["complete"])
            _ = bench.applied(1)
            #expect(bench.handle(.networkMayBeBack) == ["send - 400"])
        }
        #expect(bench.answer(.failed(lost), whole: lost) == ["complete"])
        _ = bench.applied(1)
        #expect(bench.handle(.networkMayBeBack) == ["fetch Z"])
        let page = SyncEvent.pageApplied(
            Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1))
        #expect(bench.handle(page) == ["send - 400"])
        #expect(bench.answer(.failed(lost), whole: lost) == ["complete"])
        _ = bench.applied(1)
        _ = bench.handle(.networkMayBeBack)
        #expect(bench.answered(bench.saved("0"), left: 1) == ["fetch Z"])
    }

    @Test("a pause for the network ends on request, and no other does")
    func aPauseForTheNetworkEndsOnRequest() {
        var bench = sending()
        let lost = CKError(.networkFailure)
        _ = bench.answer(.failed(lost), whole: lost)
        #expect(bench.applied(1) == [])
        #expect(bench.handle(.networkPauseEnds) == ["send - 400"])
        let busy = CKError(.serviceUnavailable)
        _ = bench.answer(.failed(busy), whole: busy)
        #expect(bench.applied(1) == [])
        #expect(bench.handle(.networkPauseEnds) == [])
    }

    @Test("185. a request that failed without a network that has returned since is retried at once")
    func aNetworkThatCameBackMeanwhileIsTriedAtOnce() {
        var bench = sending()
        let unreachable = CKError(.networkUnavailable)
        #expect(bench.handle(.networkPauseEnds) == [])
        #expect(bench.answer(.failed(unreachable), whole: unreachable) == ["complete"])
        #expect(bench.applied(1) == ["send - 400"])
        #expect(bench.answer(.failed(unreachable), whole: unreachable) == ["complete"])
        #expect(bench.applied(1) == [], "the second try began after it")
        #expect(bench.handle(.networkMayBeBack) == ["fetch Z"])
        #expect(bench.handle(.networkMayBeBack) == [])
        #expect(bench.handle(.fetchFailed(Self.database, Self.zoneID, unreachable)) == ["fetch Z"])
        let busy = CKError(.serviceUnavailable)
        #expect(bench.handle(.networkMayBeBack) == [])
        #expect(bench.handle(.fetchFailed(Self.database, Self.zoneID, busy)) == [], "no network is to blame")
    }

    @Test("167. a batch in flight when the process ended is sent before the first fetch")
    func aBatchOfThePreviousProcessIsSentFirst() {
        var bench = Bench()
        #expect(bench.handle(.unanswered(Self.database)) == [])
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == [])
        #expect(bench.count(1) == ["send - 400"])
        #expect(bench.answered(bench.saved("0"), left: 0) == ["fetch Z"])
    }

    @Test(
        "178. a batch without an answer waits for the fetch, where its user's rows were removed meanwhile",
        arguments: [true, false])
    func aBatchDoesNotGoBeforeAFetchFromTheBeginning(isFetched: Bool) {
        var bench = sending()
        let lost = CKError(.networkFailure)
        #expect(bench.answer(.failed(lost), whole: lost) == ["complete"])
        _ = bench.applied(1)
        _ = bench.handle(.useAccount(2, isFetched: false))
        _ = bench.handle(.useAccount(1, isFetched: isFetched))
        #expect(bench.handle(.networkMayBeBack) == ["create Z"])
        let created = SyncEvent.zoneCreated(Self.database, Self.zoneID, nil)
        #expect(bench.handle(created) == [isFetched ? "send - 400" : "fetch Z"])
    }

    @Test("106, 42. a deletion of a deleted record succeeds")
    func aDeletionOfADeletedRecordSucceeds() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.unknownItem)), kind: .delete) == ["complete"])
        #expect(bench.completions.last?.deleted.count == 1)
        #expect(bench.completions.last?.error == nil)
    }

    @Test("107, B12. a zone that isn't there is made, and the batch sent again")
    func aZoneThatIsNotThereIsMade() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answered(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
    }

    @Test func aZoneThatIsMadeAndStillNotThereIsAskedForAfterAPause() throws {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answered(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
        #expect(bench.answered(.failed(CKError(.zoneNotFound))) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["create Z"])
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == [])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["fetch Z"])
        #expect(bench.handle(.fetchFailed(Self.database, Self.zoneID, CKError(.zoneNotFound))) == [])
    }

    @Test func anUnfollowedZoneIsNotFetchedAfterItsCreationFailed() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answered(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, CKError(.notAuthenticated))) == [])
        #expect(bench.handle(.retry) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
    }

    @Test func aWakeThatComesTooEarlyIsAskedForAgain() throws {
        var bench = Bench()
        _ = bench.count(1)
        _ = bench.answered(.failed(CKError(.networkFailure)))
        let wake = try #require(bench.wake)
        bench.wake = nil
        bench.now = wake - 1
        #expect(bench.handle(.tick) == [])
        #expect(bench.wake == wake)
    }

    @Test("107. a zone that the user deleted stops everything until the app says so")
    func aZoneThatTheUserDeleted() {
        var bench = Bench()
        _ = bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false))
        _ = bench.handle(.fetchFailed(Self.database, Self.zoneID, CKError(.userDeletedZone)))
        #expect(bench.engine.status.needs([.zoneDeletedByUser(zoneName: "Z")]))
        #expect(bench.count(5) == [])
        #expect(bench.handle(.tick) == [])
        #expect(bench.handle(.retry) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["fetch Z"])
    }

    @Test(
        "107. a save into a zone that the user deleted stops too, also without fetches"
    )
    func aSaveIntoAZoneThatTheUserDeleted() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answered(.failed(CKError(.userDeletedZone))) == [])
        #expect(bench.engine.status.needs([.zoneDeletedByUser(zoneName: "Z")]))
        #expect(bench.told.map(\.code) == [.userDeletedZone])
        #expect(bench.handle(.retry) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
    }

    @Test(
        "88. a refused token is dropped and everything fetched",
        arguments: [FullFetchReason.expired, .reset])
    func aRefusedTokenIsDropped(refusal: FullFetchReason) {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == ["fetch Z"])
        let error = CKError(.changeTokenExpired, userInfo: [FullFetchReason.userInfoKey: refusal.rawValue])
        let partial = CKError(
            .partialFailure, userInfo: [CKPartialErrorsByItemIDKey: [Self.zoneID as AnyHashable: error]])
        #expect(
            bench.handle(.fetchFailed(Self.database, Self.zoneID, partial)) == ["drop \(refusal.rawValue)"])
        #expect(bench.applied(0) == ["fetch Z"])
    }

    @Test("88. pages follow one another, also an empty first one")
    func pagesFollowOneAnother() {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: true)) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["fetch Z"])
        let page = SyncEvent.pageApplied(Self.database, Self.zoneID, moreComing: true, QueueCount())
        #expect(bench.handle(page) == ["fetch Z"])
        let last = SyncEvent.pageApplied(Self.database, Self.zoneID, moreComing: false, QueueCount())
        #expect(bench.handle(last) == [])
        #expect(bench.engine.status.state == .idle)
    }

    @Test("a retry during a request follows it")
    func aRetryWhileSomethingIsUnderWay() {
        var bench = Bench()
        _ = bench.handle(
            .counted(Self.database, QueueCount(pending: 1, quarantined: [.stuck(recordName: "0")])))
        #expect(bench.handle(.retry) == [])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.handle(.applied(Self.database, QueueCount())) == ["lift"])
    }

    @Test("P11. never idle with something waiting", arguments: YapDatabaseCloudKit.FailureHandling.allCases)
    func neverIdleWithSomethingWaiting(failures: YapDatabaseCloudKit.FailureHandling) {
        let random = SeededRandomSource(seed: 42)
        for round in 0..<200 {
            var bench = Bench(failures)
            _ = bench.count(1)
            for _ in 0..<20 {
                switch random.next(in: 0..<6) {
                case 0: _ = bench.suspend(by: random.next(in: 0..<3) - 1)
                case 1: _ = bench.answer(.failed(CKError(CKError.Code.allCases[random.next(in: 0..<37)])))
                case 2: _ = bench.applied(1)
                case 3: bench.now += 5000; _ = bench.handle(.tick)
                case 4: bench.now += 700_000; _ = bench.handle(.tick)
                default: _ = bench.handle(.localFailure(Self.database, message: ""))
                }
                #expect(bench.engine.status.state != .idle, "seed 42, round \(round)")
            }
        }
    }
}
