import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing
import Yap

@testable import YapCloudKit

/// The status has all that is so at once: what waits and why, what needs somebody, and when the server last responded.
@Suite struct StatusTests {
    private let cloud = TestCloud()

    private var now: Date { Date(timeIntervalSince1970: Double(cloud.clock.nowMilliseconds()) / 1000) }

    private func run(_ device: SyncedDevice) {
        for _ in 0..<8 {
            cloud.deliverPushes()
            device.scheduler.runUntilQuiet()
        }
    }

    // MARK: All at once

    @Test func aRefusedRecordHidesNeitherWhatWaitsNorThatThereIsNoNetwork() throws {
        let phone = try SyncedDevice(cloud)
        let recordID = CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID)
        cloud.fail(.modifyRecords, of: recordID, with: .permissionFailure, on: phone.device)
        try phone.set(Todo(title: "refused"), "1")
        let refused = phone.syncNow()
        #expect(refused.state == .needsAttention && refused.pendingCount == 0 && refused.pause == nil)
        guard case .refused("1", .permissionFailure, _)? = refused.problems.first else {
            Issue.record("\(refused)")
            return
        }
        cloud.disconnect(phone.device)
        for key in ["2", "3"] { try phone.set(Todo(title: "new"), key) }
        let offline = phone.syncNow()
        #expect(offline.state == .needsAttention && offline.problems == refused.problems)
        #expect(offline.pendingCount == 2 && offline.pause == .network && offline.pauseEndDate != nil)
        #expect(
            "\(offline)".hasPrefix("2 changes wait until ") && "\(offline)".contains("\(refused.problems[0])")
        )
        cloud.connect(phone.device)
        phone.sync.networkMayBeBack()
        let online = phone.syncNow()
        #expect(online.needs(refused.problems) && online.pendingCount == 0 && online.pause == nil)
    }

    @Test func aRefusedRecordDoesNotHideThatUploadsAreSuspended() throws {
        let phone = try SyncedDevice(cloud)
        let recordID = CKRecord.ID(recordName: "1", zoneID: phone.sync.zoneID)
        cloud.fail(.modifyRecords, of: recordID, with: .permissionFailure, on: phone.device)
        try phone.set(Todo(title: "refused"), "1")
        phone.syncNow()
        phone.sync.suspend()
        try phone.set(Todo(title: "new"), "2")
        let status = phone.syncNow()
        #expect(status.state == .needsAttention && status.problems.count == 1)
        #expect(status.pendingCount == 1 && status.pause == .suspended && status.pauseEndDate == nil)
    }

    @Test func problemsAreListedAlsoWhileSomethingIsUnderWay() {
        var bench = EngineBench()
        var count = QueueCount(pending: 2)
        count.quarantined = [.stuck(recordName: "0")]
        #expect(bench.handle(.counted(EngineBench.database, count)) == ["send - 400"])
        let status = bench.engine.status
        #expect(status.state == .syncing && status.pendingCount == 2 && status.pause == nil)
        #expect(status.problems == [.stuck(recordName: "0")])
    }

    @Test func aServerThatIsNotTrustedIsAProblemAlsoWhileItIsTriedAgain() throws {
        var bench = EngineBench()
        let key = CloudSyncProblem.refusedConnectionKey
        let untrusted = CKError(.networkFailure, userInfo: [key: "certificate"])
        _ = bench.count(1)
        _ = bench.answered(.failed(untrusted))
        let problems = bench.engine.status.problems
        #expect(problems.count == 1 && bench.engine.status.pause == .network)
        bench.now = try #require(bench.wake)
        #expect(bench.handle(.tick) == ["send - 400"])
        #expect(bench.engine.status.state == .syncing && bench.engine.status.problems == problems)
        _ = bench.answered(bench.saved("0"), left: 0)
        #expect(bench.count(1) == ["send - 400"] && bench.engine.status.problems.isEmpty)
    }

    @Test func anAccountThatStopsTheSyncWaitsForNothingElse() {
        var bench = EngineBench()
        _ = bench.count(1)
        _ = bench.answered(.failed(CKError(.notAuthenticated)))
        #expect(bench.engine.status.needs([.account(.notAuthenticated)]) && bench.engine.status.pause == nil)
        _ = bench.suspend(by: 1)
        #expect(bench.engine.status.pause == .suspended && bench.engine.status.problems.count == 1)
    }

    @Test func theStateFollowsFromTheOtherValues() {
        #expect(CloudSyncStatus().state == .idle)
        #expect(CloudSyncStatus(pendingCount: 1).state == .waiting, "it is idle only when nothing waits")
        #expect(CloudSyncStatus(pause: .anotherAccount).state == .waiting)
        #expect(CloudSyncStatus(pause: .network, problems: [.anotherUser]).state == .needsAttention)
        #expect(CloudSyncStatus(isSyncing: true, problems: [.anotherUser]).state == .syncing)
        let endless = CloudSyncStatus(pendingCount: -1, pauseEndDate: now)
        #expect(endless.pauseEndDate == nil && endless.pendingCount == 0)
        #expect(CloudSyncStatus(lastResponseDate: now) != CloudSyncStatus())
    }

    // MARK: When the server last responded

    @Test func anIdleDeviceSaysWhenItsServerLastResponded() throws {
        let phone = try SyncedDevice(cloud, listens: true)
        run(phone)
        #expect(phone.sync.currentStatus.state == .idle && phone.sync.currentStatus.lastResponseDate == now)
        // A wait that the server ends is a response, though nothing happened.
        cloud.clock.advance(bySeconds: 25)
        run(phone)
        let last = now
        #expect(phone.sync.currentStatus.lastResponseDate == last)
        cloud.disconnect(phone.device)
        for _ in 0..<20 {
            cloud.clock.advance(bySeconds: 60)
            run(phone)
        }
        #expect(phone.sync.currentStatus.state == .idle, "nothing was to be sent or fetched")
        #expect(phone.sync.currentStatus.lastResponseDate == last)
        #expect(phone.syncNow().state == .waiting && phone.sync.currentStatus.lastResponseDate == last)
        cloud.connect(phone.device)
        cloud.clock.advance(bySeconds: 600)
        run(phone)
        #expect(phone.sync.currentStatus.state == .idle && phone.sync.currentStatus.lastResponseDate == now)
    }

    @Test func theTimeIsNotKeptOverARelaunch() throws {
        let phone = try SyncedDevice(cloud)
        #expect(phone.syncNow().lastResponseDate == now)
        cloud.disconnect(phone.device)
        try phone.relaunch()
        #expect(phone.syncNow().lastResponseDate == nil)
    }

    @Test func theTimeOfEachUserIsKeptWhileAnotherIsThere() {
        var bench = EngineBench()
        _ = bench.handle(.remoteChange(EngineBench.database, EngineBench.zoneID))
        _ = bench.handle(
            .pageApplied(EngineBench.database, EngineBench.zoneID, moreComing: false, QueueCount()))
        let adas = bench.engine.lastResponseDate
        #expect(adas == Date(timeIntervalSince1970: Double(bench.now) / 1000))
        bench.now += 60_000
        _ = bench.handle(.useAccount(2, isFetched: true))
        #expect(bench.engine.lastResponseDate == nil)
        _ = bench.handle(.useAccount(DatabaseKey.firstAccount, isFetched: true))
        #expect(bench.engine.lastResponseDate == adas)
        _ = bench.handle(.retry)
        #expect(bench.engine.lastResponseDate == adas)
    }

    @Test func aClockThatIsSetBackLeavesNoTimeInTheFuture() {
        var bench = EngineBench()
        _ = bench.handle(.remoteChange(EngineBench.database, EngineBench.zoneID))
        _ = bench.handle(
            .pageApplied(EngineBench.database, EngineBench.zoneID, moreComing: false, QueueCount()))
        bench.now -= 500_000
        _ = bench.handle(.tick)
        #expect(bench.engine.lastResponseDate == Date(timeIntervalSince1970: Double(bench.now) / 1000))
    }

    @Test(arguments: [
        (CKError(.serviceUnavailable), true), (CKError(.zoneNotFound), true),
        (CKError(.networkFailure), false),
        (CKError(.networkUnavailable), false), (CKError(.serverResponseLost), false),
        // Also made on the device, without a request.
        (CKError(.notAuthenticated), false), (CKError(.badContainer), false),
        (CKError(.notAuthenticated, userInfo: ["RequestUUID": "r"]), true),
        (CKError(.invalidArguments, userInfo: ["ServerErrorDescription": "no"]), true),
    ])
    func aRefusalIsAResponseAndANetworkErrorIsNot(error: CKError, isResponse: Bool) {
        let key = EngineBench.database, zoneID = EngineBench.zoneID
        var fetch = EngineBench()
        _ = fetch.handle(.follow(key, zoneID, mayBeMissing: false))
        _ = fetch.handle(.fetchFailed(key, zoneID, error))
        #expect((fetch.engine.lastResponseDate != nil) == isResponse)
        var create = EngineBench()
        _ = create.handle(.follow(key, zoneID, mayBeMissing: true))
        _ = create.handle(.zoneCreated(key, zoneID, error))
        #expect((create.engine.lastResponseDate != nil) == isResponse)
        var subscribe = EngineBench()
        _ = subscribe.handle(.listen(key, isSaved: false))
        _ = subscribe.handle(.subscribeFailed(key, error))
        #expect((subscribe.engine.lastResponseDate != nil) == isResponse)
        var send = EngineBench()
        _ = send.count(1)
        _ = send.answer(.failed(error), whole: error)
        #expect((send.engine.lastResponseDate != nil) == isResponse)
        let part = CKError(
            .partialFailure, userInfo: [CKPartialErrorsByItemIDKey: [AnyHashable(zoneID): error]])
        #expect(part.isServerResponse == isResponse)
    }

    @Test func theServersOwnRefusalsOfASignInAreResponses() throws {
        let account = ChangingAccount()
        for user in ["ada", "eve"] { _ = cloud.device(user: user) }
        account.signIn("ada", cloud)
        let phone = try SyncedDevice(cloud, device: cloud.device(account: account))
        #expect(phone.syncNow().state == .idle)
        cloud.clock.advance(bySeconds: 60)
        cloud.fail(.fetchRecordZoneChanges, with: .notAuthenticated)
        #expect(phone.syncNow().needs([.account(.notAuthenticated)]))
        let refused = now
        #expect(phone.sync.currentStatus.lastResponseDate == refused)
        cloud.clock.advance(bySeconds: 60)
        account.signIn("eve", cloud)
        phone.sync.retry()
        #expect(phone.syncNow().needs([.anotherUser]))
        #expect(phone.sync.currentStatus.lastResponseDate == refused, "nothing was sent")
    }

    // MARK: The stream

    @Test func theStreamHasNoStatusForAMereChangeOfTheTime() async throws {
        let phone = try SyncedDevice(cloud, listens: true)
        run(phone)
        let stream = phone.sync.status
        let before = phone.sync.currentStatus
        for _ in 0..<5 {
            cloud.clock.advance(bySeconds: 25)
            run(phone)
        }
        let after = phone.sync.currentStatus
        #expect(after.lastResponseDate == now && after.lastResponseDate != before.lastResponseDate)
        #expect(!after.differs(from: before))
        try await phone.database.close()
        var told: [CloudSyncStatus] = []
        for await status in stream { told.append(status) }
        #expect(told.map(\.state) == [.idle, .waiting], "that of the beginning and that of the end: \(told)")
        #expect(told.last?.pause == .localDatabase && told.last?.lastResponseDate == after.lastResponseDate)
    }

    @Test func aResponseThatChangesNothingElseIsNoNewStatusOfTheEngine() {
        var engine = SyncEngine(random: SeededRandomSource(seed: 1))
        let key = EngineBench.database
        _ = engine.handle(.follow(key, EngineBench.zoneID, mayBeMissing: false), now: 1000)
        let limited = CKError(.requestRateLimited, userInfo: [CKErrorRetryAfterKey: NSNumber(value: 60.0)])
        _ = engine.handle(.fetchFailed(key, EngineBench.zoneID, limited), now: 1000)
        #expect(engine.lastResponseDate == nil)
        let actions = engine.handle(.listening(key, wasForgotten: false), now: 2000)
        #expect(engine.lastResponseDate == Date(timeIntervalSince1970: 2))
        #expect(!actions.contains { if case .status = $0 { true } else { false } })
    }

    @Test func eachSyncEndsWithAStatusThatHasItsTime() async throws {
        let phone = try SyncedDevice(cloud)
        phone.syncNow()
        let stream = phone.sync.status
        cloud.clock.advance(bySeconds: 60)
        phone.syncNow()
        let last = now
        try await phone.database.close()
        var told: [CloudSyncStatus] = []
        for await status in stream { told.append(status) }
        let quiet = try #require(told.dropFirst().first { $0.state == .idle })
        #expect(quiet.lastResponseDate == last)
    }

    // MARK: Texts for people

    @Test func theSummaryIsOneLineForPeople() throws {
        let utc = try #require(TimeZone(identifier: "UTC"))
        // 22:13 of 14 November 2023.
        let now = Date(timeIntervalSince1970: 1_700_000_000)
        let time = ShortTime(now: now, timeZone: utc)
        func text(_ status: CloudSyncStatus) -> String { status.summary(time) }
        let checked = now.addingTimeInterval(-3600)
        #expect(text(CloudSyncStatus(lastResponseDate: checked)) == "Up to date, checked 21:13")
        #expect(text(CloudSyncStatus()) == "Nothing to send")
        #expect(text(CloudSyncStatus(isSyncing: true)) == "Syncing")
        #expect(text(CloudSyncStatus(isSyncing: true, pendingCount: 1)) == "Syncing, 1 change to send")
        #expect(
            text(
                CloudSyncStatus(pendingCount: 3, pause: .network, pauseEndDate: now.addingTimeInterval(7200)))
                == "3 changes wait: no network, next try 15 Nov 00:13")
        #expect(text(CloudSyncStatus(pause: .suspended)) == "Sync waits: sync is suspended")
        #expect(text(CloudSyncStatus(pendingCount: 1)) == "1 change waits")
        #expect(
            text(CloudSyncStatus(pause: .anotherAccount, lastResponseDate: checked))
                == "Up to date, checked 21:13; another user's changes wait for that user")
        let problems: [CloudSyncProblem] = [.refused(recordName: "milk", .permissionFailure), .quotaExceeded]
        #expect(
            text(CloudSyncStatus(problems: problems, lastResponseDate: checked))
                == "The server rejects the change of milk, and 1 more problem")
        #expect(
            text(CloudSyncStatus(pendingCount: 2, pause: .network, problems: problems))
                == "The server rejects the change of milk, and 1 more problem; 2 changes wait: no network")
        #expect(
            text(CloudSyncStatus(isSyncing: true, pendingCount: 2, problems: [.quotaExceeded]))
                == "The storage in the cloud is full; syncing, 2 changes to send")
        #expect(time.text(now.addingTimeInterval(-365 * 86_400)) == "14 Nov 2022 22:13")
        #expect(CloudSyncPause.network.summary == "No network")
        let shown = CloudSyncStatus(lastResponseDate: checked).summary
        #expect(shown.hasPrefix("Up to date, checked ") && shown.contains(" 2023 "), "not today: \(shown)")
    }

    @Test func noSummaryHasMoreThanALineOrNamesACall() {
        let texts =
            WhenSyncGoesWrongTests.pauses.map(\.summary) + WhenSyncGoesWrongTests.problems.map(\.summary)
        #expect(Set(texts).count == texts.count)
        for text in texts {
            #expect(!text.contains("`") && !text.contains("(") && !text.contains("\n"), "\(text)")
            #expect(text.first?.isUppercase == true && !text.hasSuffix("."), "\(text)")
        }
    }
}
