import CloudKit
import CloudKitTesting
import Foundation
import Seams
import Testing

@testable import YapCloudKit

/// The engine alone: events in, actions out.
@Suite struct EngineTests {
    static let database = DatabaseKey(nil)
    static let zoneID = CKRecordZone.ID(zoneName: "Z")

    /// The engine with what it asked for, in short.
    struct Bench {
        var engine = SyncEngine(random: SeededRandomSource(seed: 1))
        var now: Int64 = 1_000_000
        var wake: Int64?
        var completions: [SyncCompletion] = []
        var told: [CKError.Code] = []

        mutating func handle(_ event: SyncEvent) -> [String] {
            engine.handle(event, now: now).compactMap { action in
                switch action {
                case .send(let key, let itemsMax):
                    return "send \(key.identifier ?? "-") \(itemsMax)"
                case .complete(_, let completion):
                    completions.append(completion)
                    return "complete"
                case .fetch(_, let zoneID): return "fetch \(zoneID.zoneName)"
                case .createZone(_, let zoneID): return "create \(zoneID.zoneName)"
                case .dropToken(_, _, let refusal): return "drop \(refusal.rawValue)"
                case .liftRefusals: return "lift"
                case .listen: return "listen"
                case .subscribe: return "subscribe"
                case .wake(let milliseconds):
                    wake = milliseconds
                    return nil
                case .tell(_, let error):
                    told.append(error.code)
                    return nil
                case .status: return nil
                }
            }
        }

        mutating func count(_ pending: Int, in database: DatabaseKey = database) -> [String] {
            handle(.counted(database, QueueCount(pending: pending)))
        }

        mutating func applied(_ pending: Int) -> [String] {
            handle(.applied(database, QueueCount(pending: pending)))
        }

        mutating func answer(
            _ outcomes: SendReply.Outcome..., kind: SyncItem.Kind = .save, sentTag: String? = "t"
        )
            -> [String]
        {
            let items = outcomes.enumerated().map { (item("\($0.offset)", kind, sentTag), $0.element) }
            return handle(.sent(database, SendReply(items: items)))
        }

        func item(_ name: String, _ kind: SyncItem.Kind, _ sentTag: String?) -> SyncItem {
            SyncItem(
                recordID: CKRecord.ID(recordName: name, zoneID: zoneID), kind: kind, sequence: 1,
                incarnation: 1, sentTag: sentTag)
        }

        func saved(_ name: String) -> SendReply.Outcome {
            .saved(CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID)))
        }
    }

    static func conflict(tag: String?) -> CKError {
        var state = RecordState(recordType: "todo", recordID: CKRecord.ID(recordName: "0", zoneID: zoneID))
        state.changeTag = tag
        return CKError(
            .serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: CKRecord(state: state)])
    }

    @Test("89, 90. one operation at a time in a database; databases don't wait for one another")
    func oneOperationAtATime() {
        var bench = Bench()
        #expect(bench.count(2) == ["send - 400"])
        #expect(bench.count(3) == [])
        #expect(bench.count(1, in: DatabaseKey("public")) == ["send public 400"])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.applied(2) == ["send - 400"])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.applied(0) == [])
        #expect(bench.engine.status == .syncing(pending: 1))
    }

    @Test("97, 98, 99. nothing is sent while suspended; what is under way ends")
    func nothingIsSentWhileSuspended() {
        var bench = Bench()
        #expect(bench.handle(.suspendCount(2)) == [])
        #expect(bench.count(1) == [])
        #expect(bench.engine.status == .waiting(until: nil, because: .suspended))
        #expect(bench.handle(.suspendCount(1)) == [])
        #expect(bench.handle(.suspendCount(0)) == ["send - 400"])
        #expect(bench.handle(.suspendCount(1)) == [])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.applied(1) == [])
        #expect(bench.handle(.suspendCount(0)) == ["send - 400"])
    }

    @Test("104. the server's pause is kept to, and not a moment less")
    func theServersPauseIsKeptTo() throws {
        var bench = Bench()
        _ = bench.count(1)
        let error = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 3.0)])
        #expect(bench.answer(.failed(error)) == [])
        let wake = try #require(bench.wake)
        #expect(wake >= bench.now + 3000)
        #expect(wake <= bench.now + 3300)
        #expect(
            bench.engine.status
                == .waiting(
                    until: Date(timeIntervalSince1970: Double(wake) / 1000),
                    because: .server(.requestRateLimited)))
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
            _ = bench.answer(.failed(CKError(.networkFailure)))
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
        #expect(bench.told.allSatisfy { $0 == .networkFailure })
        #expect(bench.told.count == 12)
        _ = bench.answer(bench.saved("0"))
        _ = bench.applied(1)
        _ = bench.answer(.failed(CKError(.networkFailure)))
        #expect(try #require(bench.wake) - bench.now <= 1000)
    }

    @Test("93, 94, 95. of a batch that failed in part, each item gets what is its own")
    func eachItemGetsWhatIsItsOwn() throws {
        var bench = Bench()
        _ = bench.count(4)
        let actions = bench.answer(
            bench.saved("0"), .failed(Self.conflict(tag: "t")), .failed(CKError(.batchRequestFailed)),
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
        #expect(completion.refused.map(\.isStuck) == [true])
    }

    @Test("95. a batch in which all blame another item is not sent again at once")
    func aBatchThatBlamesOthersWaits() {
        var bench = Bench()
        _ = bench.count(2)
        #expect(
            bench.answer(.failed(CKError(.batchRequestFailed)), .failed(CKError(.batchRequestFailed))) == [])
        #expect(bench.wake != nil)
    }

    @Test("103. a batch over the limit is halved until it fits, and one item alone is refused")
    func aBatchOverTheLimitIsHalved() {
        var bench = Bench()
        _ = bench.count(2)
        let error = CKError(.limitExceeded)
        #expect(bench.answer(.failed(error), .failed(error)) == ["send - 1"])
        #expect(bench.answer(.failed(error)) == ["complete"])
        #expect(bench.completions.last?.refused.count == 1)
        _ = bench.applied(1)
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.applied(1) == ["send - 2"])
    }

    @Test("105. the same conflict, again and again, ends as stuck; another version begins anew")
    func theSameConflictEndsAsStuck() {
        var bench = Bench()
        _ = bench.count(1)
        for _ in 0..<SyncEngine.identicalConflictsMax {
            #expect(bench.answer(.failed(Self.conflict(tag: "t"))) == ["complete"])
            #expect(bench.completions.last?.conflicts.count == 1)
            #expect(bench.applied(1) == ["send - 400"])
        }
        _ = bench.answer(.failed(Self.conflict(tag: "u")))
        #expect(bench.completions.last?.conflicts.count == 1)
        for _ in 0..<SyncEngine.identicalConflictsMax {
            _ = bench.applied(1)
            _ = bench.answer(.failed(Self.conflict(tag: "u")))
        }
        #expect(bench.completions.last?.refused.first?.isStuck == true)
        let stuck = QueueCount(refused: [.stuck(recordName: "0")])
        #expect(bench.handle(.applied(Self.database, stuck)) == [])
        #expect(bench.engine.status == .needsAttention([.stuck(recordName: "0")]))
        #expect(bench.handle(.retry) == ["lift"])
        #expect(bench.applied(1) == ["send - 400"])
    }

    @Test("105. a conflict without the server's record is looked up by a fetch, after a pause")
    func aConflictWithoutTheServersRecord() throws {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == ["fetch Z"])
        _ = bench.handle(.pageApplied(Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1)))
        #expect(bench.answer(.failed(CKError(.serverRecordChanged))) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["fetch Z"])
    }

    @Test("106, 42. a deletion of what is gone is done")
    func aDeletionOfWhatIsGoneIsDone() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.unknownItem)), kind: .delete) == ["complete"])
        #expect(bench.completions.last?.deleted.count == 1)
    }

    @Test("107, B12. a zone that isn't there is made, and the batch sent again")
    func aZoneThatIsNotThereIsMade() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
    }

    @Test func aZoneThatIsMadeAndStillNotThereIsAskedForAfterAPause() throws {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
        #expect(bench.answer(.failed(CKError(.zoneNotFound))) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["create Z"])
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == [])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["fetch Z"])
        #expect(bench.handle(.fetchFailed(Self.database, Self.zoneID, CKError(.zoneNotFound))) == [])
    }

    @Test func aZoneThatNobodyFollowsIsNotFetchedAfterItsMakingFailed() {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(.failed(CKError(.zoneNotFound))) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, CKError(.notAuthenticated))) == [])
        #expect(bench.handle(.retry) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["send - 400"])
    }

    @Test func aWakeThatComesTooEarlyIsAskedForAgain() throws {
        var bench = Bench()
        _ = bench.count(1)
        _ = bench.answer(.failed(CKError(.networkFailure)))
        let wake = try #require(bench.wake)
        bench.wake = nil
        bench.now -= 5000
        #expect(bench.handle(.tick) == [])
        #expect(bench.wake == wake)
    }

    @Test("107. a zone that the user deleted stops everything until the app says so")
    func aZoneThatTheUserDeleted() {
        var bench = Bench()
        _ = bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false))
        _ = bench.handle(.fetchFailed(Self.database, Self.zoneID, CKError(.userDeletedZone)))
        #expect(bench.engine.status == .needsAttention([.zoneDeletedByUser(zoneName: "Z")]))
        #expect(bench.count(5) == [])
        #expect(bench.handle(.tick) == [])
        #expect(bench.handle(.retry) == ["create Z"])
        #expect(bench.handle(.zoneCreated(Self.database, Self.zoneID, nil)) == ["fetch Z"])
    }

    @Test(
        "88. a refused token is dropped and everything fetched",
        arguments: [ChangeTokenRefusal.expired, .reset])
    func aRefusedTokenIsDropped(refusal: ChangeTokenRefusal) {
        var bench = Bench()
        #expect(bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false)) == ["fetch Z"])
        let error = CKError(.changeTokenExpired, userInfo: [ChangeTokenRefusal.userInfoKey: refusal.rawValue])
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
        #expect(bench.engine.status == .idle)
    }

    @Test("a retry while something is under way comes after it")
    func aRetryWhileSomethingIsUnderWay() {
        var bench = Bench()
        _ = bench.handle(.counted(Self.database, QueueCount(pending: 1, refused: [.stuck(recordName: "0")])))
        #expect(bench.handle(.retry) == [])
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.handle(.applied(Self.database, QueueCount())) == ["lift"])
    }

    @Test("109. a result that can't be written here is not lost: the batch goes again after a pause")
    func aResultThatCannotBeWritten() throws {
        var bench = Bench()
        _ = bench.count(1)
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        #expect(bench.handle(.localFailure(Self.database, message: "disk full")) == [])
        if case .waiting(_, .localDatabase) = bench.engine.status {
        } else {
            Issue.record("\(bench.engine.status)")
        }
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"])
    }

    @Test("a page that can't be written here is fetched again after a pause")
    func aPageThatCannotBeWritten() throws {
        var bench = Bench()
        #expect(bench.handle(.remoteChange(Self.database, Self.zoneID)) == ["fetch Z"])
        #expect(bench.handle(.localFailure(Self.database, message: "disk full")) == [])
        if case .waiting(_, .localDatabase) = bench.engine.status {
        } else {
            Issue.record("\(bench.engine.status)")
        }
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["fetch Z"])
    }

    @Test(
        "B10. every code has a row for every attempt, and each ends in progress, a pause, or a visible problem"
    )
    func everyCodeHasADisposition() {
        for code in CKError.Code.allCases {
            for kind in [SyncItem.Kind.save, .delete] {
                var bench = Bench()
                _ = bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false))
                _ = bench.handle(
                    .pageApplied(Self.database, Self.zoneID, moreComing: false, QueueCount(pending: 1)))
                let actions = bench.answer(.failed(CKError(code)), kind: kind)
                let isProgress = !actions.isEmpty
                let isVisible =
                    switch bench.engine.status {
                    case .waiting(.some, _), .needsAttention: !bench.told.isEmpty
                    default: false
                    }
                #expect(isProgress || isVisible, "\(code) of a \(kind) is neither retried nor shown")
                #expect(!actions.contains { $0.hasPrefix("send") }, "\(code) of a \(kind) goes round at once")
            }
            var bench = Bench()
            _ = bench.handle(.follow(Self.database, Self.zoneID, mayBeMissing: false))
            _ = bench.handle(.fetchFailed(Self.database, Self.zoneID, CKError(code)))
            #expect(bench.engine.status != .idle, "\(code) of a fetch is forgotten")
        }
    }

    @Test("P11. never idle with something waiting")
    func neverIdleWithSomethingWaiting() {
        var random = SeededRandomSource(seed: 42)
        for round in 0..<200 {
            var bench = Bench()
            _ = bench.count(1)
            for _ in 0..<20 {
                switch random.next(in: 0..<5) {
                case 0: _ = bench.handle(.suspendCount(random.next(in: 0..<2)))
                case 1: _ = bench.answer(.failed(CKError(CKError.Code.allCases[random.next(in: 0..<37)])))
                case 2: _ = bench.applied(1)
                case 3: bench.now += 5000; _ = bench.handle(.tick)
                default: _ = bench.handle(.localFailure(Self.database, message: ""))
                }
                #expect(bench.engine.status != .idle, "round \(round)")
            }
        }
        random = SeededRandomSource(seed: 42)
    }
}
