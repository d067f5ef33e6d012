import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@testable import YapCloudKit

/// What the engine does about each error, in either mode.
@Suite struct EngineFailureTests {
    typealias Bench = EngineBench
    typealias Attempt = ErrorDisposition.Attempt
    private let key = EngineBench.database
    private let zoneID = EngineBench.zoneID

    /// What is to be done, by code: about a save, a deletion, a fetch, the making of a zone, a subscription.
    static let table: [(codes: [CKError.Code], dispositions: [ErrorDisposition])] = [
        (
            [
                .networkUnavailable, .networkFailure, .serviceUnavailable, .requestRateLimited, .zoneBusy,
                .internalError, .operationCancelled, .serverResponseLost, .resultsTruncated,
            ], [.retry, .retry, .retry, .retry, .retry]
        ),
        ([.partialFailure], [.eachItem, .eachItem, .eachItem, .eachItem, .eachItem]),
        (
            [
                .notAuthenticated, .accountTemporarilyUnavailable, .managedAccountRestricted, .badContainer,
                .badDatabase, .missingEntitlement, .userDeletedZone,
            ], [.stop, .stop, .stop, .stop, .stop]
        ),
        ([.serverRecordChanged], [.merge, .retry, .retry, .done, .done]),
        ([.batchRequestFailed], [.withNextBatch, .withNextBatch, .retry, .retry, .retry]),
        ([.unknownItem], [.recreate, .done, .stop, .stop, .quarantine]),
        ([.zoneNotFound], [.createZone, .createZone, .createZone, .stop, .quarantine]),
        ([.limitExceeded], [.split, .split, .retry, .retry, .retry]),
        ([.quotaExceeded], [.stopSaves, .stopSaves, .stop, .stop, .stop]),
        ([.changeTokenExpired], [.retry, .retry, .dropToken, .retry, .retry]),
        ([.assetNotAvailable], [.uploadAgain, .quarantine, .stop, .stop, .quarantine]),
        ([.referenceViolation], [.afterOthers, .afterOthers, .stop, .stop, .quarantine]),
        (
            [
                .permissionFailure, .invalidArguments, .serverRejectedRequest, .incompatibleVersion,
                .assetFileNotFound, .assetFileModified, .constraintViolation,
                .tooManyParticipants, .alreadyShared, .participantMayNeedVerification,
                .participantAlreadyInvited,
            ], [.quarantine, .quarantine, .stop, .stop, .quarantine]
        ),
    ]

    @Test(arguments: [
        (ConnectionRefusal.certificate, "untrustedServer"), (.scheme, "wrongAddress"),
    ]) func aServerThatCantBeTalkedToIsAProblemThatIsTriedAgain(refusal: ConnectionRefusal, name: String)
        throws
    {
        var bench = Bench()
        _ = bench.count(1)
        let error = CKError(
            .networkFailure, "why", userInfo: [ConnectionRefusal.userInfoKey: refusal.rawValue])
        _ = bench.answered(.failed(error))
        #expect(bench.engine.status.state == .needsAttention)
        #expect(bench.engine.status.problems.map(\.explanation.name) == [name])
        #expect("\(bench.engine.status)".contains(error.localizedDescription))
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"], "as without a network")
        _ = bench.answered(.failed(CKError(.networkFailure)))
        #expect(bench.engine.status.waitsForATime(because: .network))
        bench.now = try #require(bench.wake)
        _ = bench.handle(.tick)
        _ = bench.answered(.failed(error))
        _ = bench.handle(.networkMayBeBack)
        _ = bench.answered(bench.saved("0"), left: 0)
        #expect(bench.engine.status.state == .idle)
    }

    @Test func theFrameworksKeyOfARefusedConnectionIsTheOneThatTheEngineReads() {
        #expect(ConnectionRefusal.userInfoKey == CloudSyncProblem.refusedConnectionKey)
    }

    @Test("B10. the table has a row for every code, with the disposition of each attempt")
    func everyCodeHasADisposition() {
        var left = Set(CKError.Code.allCases)
        for (codes, dispositions) in Self.table {
            for code in codes {
                #expect(left.remove(code) != nil, "\(code) stands twice")
                let found = Attempt.allCases.map { ErrorDisposition.of(code, in: $0) }
                #expect(found == dispositions, "\(code)")
            }
        }
        #expect(left.isEmpty)
    }

    /// An engine that has sent one change, in a zone that is followed.
    private func sending(_ failures: YapDatabaseCloudKit.FailureHandling) -> Bench {
        var bench = Bench(failures)
        _ = bench.handle(.follow(key, zoneID, mayBeMissing: false))
        let begun = bench.handle(.pageApplied(key, zoneID, moreComing: false, QueueCount(pending: 1)))
        #expect(begun == ["send - 400"])
        return bench
    }

    @Test(
        "104, B10 (automatic). each code of a save and a deletion has its consequence, and none suspends",
        arguments: CKError.Code.allCases)
    func eachCodeHasItsConsequence(code: CKError.Code) throws {
        for kind in [SyncItem.Kind.save, .delete] {
            var bench = sending(.automatic)
            #expect(bench.answer(.failed(CKError(code)), kind: kind) == ["complete"])
            let completion = try #require(bench.completions.last)
            let actions = bench.applied(1)
            #expect(bench.engine.suspendCount == 0)
            #expect(bench.events.isEmpty)
            let disposition = ErrorDisposition.of(code, in: kind == .save ? .save : .delete)
            let name: Comment = "\(code) of a \(kind)"
            switch disposition {
            case .retry, .eachItem, .withNextBatch, .uploadAgain, .merge:
                #expect(actions == [], name)
                #expect(bench.told.count == 1, name)
                bench.now = try #require(bench.wake) - 1
                #expect(bench.handle(.tick) == [], name)
                bench.now += 1
                let isLookedUp = disposition == .merge
                #expect(bench.handle(.tick) == [isLookedUp ? "fetch Z" : "send - 400"], name)
            case .stop:
                #expect(actions == [] && bench.told.map(\.code) == [code], name)
                let status = bench.engine.status
                #expect(status.state == .needsAttention && status.problems.count == 1, name)
            case .stopSaves:
                #expect(actions == ["send - 400 deletions"] && bench.told.map(\.code) == [code], name)
            case .quarantine, .split, .afterOthers:
                #expect(completion.quarantined.map(\.error.code) == [code], name)
                #expect(bench.told.map(\.code) == [code], name)
            case .recreate: #expect(completion.recreated.count == 1, name)
            case .done: #expect(completion.deleted.count == 1, name)
            case .createZone: #expect(actions == ["create Z"], name)
            case .dropToken: Issue.record("a write has no token")
            }
        }
    }

    @Test(
        "B10. no error of a fetch or of the making of a zone is forgotten", arguments: CKError.Code.allCases)
    func noErrorOfAFetchIsForgotten(code: CKError.Code) throws {
        for attempt in [Attempt.fetch, .createZone] {
            var bench = Bench()
            _ = bench.handle(.follow(key, zoneID, mayBeMissing: attempt == .createZone))
            let error = CKError(code)
            let actions = bench.handle(
                attempt == .fetch
                    ? .fetchFailed(key, zoneID, error) : .zoneCreated(key, zoneID, error))
            let name: Comment = "\(code) of a \(attempt)"
            switch ErrorDisposition.of(code, in: attempt) {
            case .done: #expect(actions == ["fetch Z"], name)
            case .createZone: #expect(actions == ["create Z"], name)
            case .dropToken: #expect(actions == ["drop expired"], name)
            case .stop:
                #expect(actions == [] && bench.told.map(\.code) == [code], name)
                #expect(bench.engine.status.state == .needsAttention, name)
            default:
                #expect(actions == [] && bench.told.map(\.code) == [code], name)
                bench.now = try #require(bench.wake)
                #expect(bench.handle(.tick) == [attempt == .fetch ? "fetch Z" : "create Z"], name)
            }
        }
    }

    @Test(
        "92, 95 (app). each code suspends by one, is reported once, and nothing is done or sent before a resume",
        arguments: CKError.Code.allCases)
    func eachCodeIsTheApps(code: CKError.Code) throws {
        for kind in [SyncItem.Kind.save, .delete] where !(code == .unknownItem && kind == .delete) {
            for isWhole in [false, true] {
                var bench = sending(.app)
                let error = CKError(code)
                #expect(
                    bench.answer(.failed(error), kind: kind, whole: isWhole ? error : nil) == ["complete"])
                let completion = try #require(bench.completions.last)
                #expect(
                    completion.saved.isEmpty && completion.deleted.isEmpty && completion.conflicts.isEmpty
                        && completion.recreated.isEmpty && completion.quarantined.isEmpty)
                #expect(bench.engine.suspendCount == 1)
                #expect(bench.events == ["suspendCountChanged(1)"])
                #expect(bench.told.count == 1)
                let told = try #require(bench.told.first)
                #expect(told.code == (isWhole ? code : .partialFailure))
                if code == .partialFailure || !isWhole {
                    let errors = told.partialErrorsByItemID ?? [:]
                    #expect(errors.mapValues { ($0 as? CKError)?.code } == [bench.id("0"): code])
                }
                #expect(bench.applied(1) == [])
                #expect(bench.engine.status.waits(for: .suspended))
                bench.now += 10_000_000
                #expect(bench.handle(.tick) == [])
                let next = code == .limitExceeded ? "send - 1" : "send - 400"
                #expect(bench.suspend(by: -1) == [next])
            }
        }
    }

    @Test("93, 94 (app). successful items leave the change-set; the block gets the errors of the rest, once")
    func whatSucceededLeavesTheChangeSet() throws {
        var bench = sending(.app)
        _ = bench.answer(
            bench.saved("0"), .deleted, .failed(Bench.conflict(tag: "t")), .failed(CKError(.zoneBusy)))
        let completion = try #require(bench.completions.last)
        #expect(completion.saved.map(\.item.recordID) == [bench.id("0")])
        #expect(completion.deleted.map(\.recordID) == [bench.id("1")])
        #expect(bench.told.map(\.code) == [.partialFailure])
        let errors = try #require(bench.told.first?.partialErrorsByItemID)
        #expect(Set(errors.keys) == [bench.id("2"), bench.id("3")])
    }

    @Test("106 (app). a deletion answered by unknownItem is no failure")
    func aDeletionOfADeletedRecordIsNoFailure() {
        var bench = sending(.app)
        #expect(bench.answered(.failed(CKError(.unknownItem)), kind: .delete, left: 1) == ["send - 400"])
        #expect(bench.completions.last?.deleted.count == 1)
        #expect(bench.told.isEmpty && bench.engine.suspendCount == 0)
    }

    @Test(
        "92 (app). a failure and its suspension are one step: no other database sends in between"
    )
    func theFailureAndTheSuspensionAreOneStep() {
        var bench = sending(.app)
        let other = DatabaseKey("public")
        #expect(bench.count(1, in: other) == ["send public 400"])
        _ = bench.answered(.failed(CKError(.networkFailure)))
        let items = [(bench.item("9", .save, nil), SendReply.Outcome.failed(CKError(.zoneBusy)))]
        #expect(bench.handle(.sent(other, SendReply(items: items))) == ["complete"])
        #expect(bench.handle(.applied(other, QueueCount(pending: 1))) == [])
        #expect(bench.engine.suspendCount == 2)
        #expect(bench.suspend(by: -1) == [])
        #expect(bench.suspend(by: -1) == ["send - 400", "send public 400"])
    }

    @Test("a full quota stops saves, not deletions nor fetches, until a deletion went through")
    func aFullQuotaStopsSaves() {
        var bench = sending(.automatic)
        #expect(bench.answered(.failed(CKError(.quotaExceeded)), left: 2) == ["send - 400 deletions"])
        #expect(bench.handle(.nothingToSend(key, QueueCount(pending: 2))) == [])
        #expect(bench.engine.status.needs([.quotaExceeded]))
        #expect(bench.handle(.remoteChange(key, zoneID)) == ["fetch Z"])
        #expect(
            bench.handle(.pageApplied(key, zoneID, moreComing: false, QueueCount(pending: 2))) == [])
        #expect(bench.count(3) == ["send - 400 deletions"])
        #expect(bench.answered(.deleted, kind: .delete, left: 2) == ["send - 400"])
        #expect(bench.answered(.failed(CKError(.quotaExceeded)), left: 2) == ["send - 400 deletions"])
        #expect(bench.handle(.nothingToSend(key, QueueCount(pending: 2))) == [])
        #expect(bench.handle(.retry) == ["fetch Z"])
        #expect(
            bench.handle(.pageApplied(key, zoneID, moreComing: false, QueueCount(pending: 2))) == [
                "send - 400"
            ])
    }

    @Test(
        "103. a record that refers to a missing one is sent again after others succeeded"
    )
    func whatRefersToWhatIsNotThereYet() {
        var bench = sending(.automatic)
        let violation = SendReply.Outcome.failed(CKError(.referenceViolation))
        let deferred: [CloudSyncProblem] = [.refused(recordName: "0", .referenceViolation)]
        #expect(bench.answer(violation) == ["complete"])
        #expect(bench.completions.last?.quarantined.count == 1)
        let left = QueueCount(pending: 1, quarantined: deferred)
        #expect(bench.handle(.applied(key, left)) == ["send - 400"])
        #expect(bench.answer(bench.saved("1")) == ["complete"])
        #expect(bench.handle(.applied(key, QueueCount(quarantined: deferred))) == ["lift 31"])
        #expect(bench.handle(.applied(key, QueueCount(pending: 1))) == ["send - 400"])
        #expect(bench.answer(violation) == ["complete"])
        #expect(bench.handle(.applied(key, QueueCount(quarantined: deferred))) == [])
        #expect(bench.engine.status.needs(deferred))
    }

    @Test(
        "109. a result that can't be written here is written after a pause, and nothing is sent before"
    )
    func aResultThatCannotBeWritten() throws {
        var bench = Bench()
        _ = bench.count(2)
        #expect(bench.answer(bench.saved("0")) == ["complete"])
        _ = bench.suspend(by: 1)
        #expect(bench.handle(.localFailure(key, message: "disk full")) == [])
        #expect(bench.told.map(\.localizedDescription) == ["disk full"])
        #expect(bench.engine.status.waitsForATime(because: .localDatabase))
        #expect(bench.suspend(by: -1) == [])
        _ = bench.suspend(by: 1)
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["complete"], "also while suspended")
        #expect(bench.completions.count == 2 && bench.completions.last?.saved.count == 1)
        #expect(bench.applied(1) == [])
        #expect(bench.suspend(by: -1) == ["send - 400"])
    }

    @Test("a page that can't be written here is fetched again after a pause")
    func aPageThatCannotBeWritten() throws {
        var bench = Bench()
        #expect(bench.handle(.remoteChange(key, zoneID)) == ["fetch Z"])
        #expect(bench.handle(.localFailure(key, message: "disk full")) == [])
        #expect(bench.engine.status.waitsForATime(because: .localDatabase))
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["fetch Z"])
    }

    @Test func aQueueThatCannotBeCountedIsCountedAgainAndTheStatusIsNotIdle() throws {
        var bench = Bench()
        #expect(bench.handle(.countFailed(message: "disk")) == [])
        #expect(bench.engine.status.waitsForATime(because: .localDatabase))
        bench.now = try #require(bench.wake) - 1
        #expect(bench.handle(.tick) == [])
        bench.now += 1
        #expect(bench.handle(.tick) == ["count"])
        #expect(bench.count(0) == [])
        #expect(bench.engine.status.state == .idle && bench.wake == nil)
    }

    @Test func aQueueOfWhichNothingCanGoIsNotAskedForInCircles() throws {
        var bench = Bench()
        _ = bench.count(3)
        #expect(
            bench.handle(.nothingToSend(key, QueueCount(pending: 2))) == ["send - 400"], "one was quarantined"
        )
        #expect(bench.handle(.nothingToSend(key, QueueCount(pending: 2))) == [])
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"])
    }

    @Test("102. an identifier without a database is reported, and a resume retries it")
    func anIdentifierWithoutADatabase() {
        var bench = sending(.app)
        #expect(bench.handle(.unknownDatabase(key)) == [])
        #expect(bench.engine.status.needs([.unknownDatabase(identifier: nil)]))
        #expect(bench.told.map(\.code) == [.badDatabase])
        _ = bench.suspend(by: 1)
        #expect(bench.suspend(by: -1) == ["send - 400"])
    }
}
