import CloudKit
import Foundation
import System
import Testing

@testable import YapCloudKit

/// What the engine does about notifications: events in, actions out.
@Suite struct PushEngineTests {
    private let key = EngineBench.database
    private let zoneID = EngineBench.zoneID
    private var bench = EngineBench()

    private mutating func start(isSaved: Bool = true) -> [String] {
        bench.handle(.listen(key, isSaved: isSaved))
            + bench.handle(.follow(key, zoneID, mayBeMissing: false))
    }

    private mutating func fetched() -> [String] {
        bench.handle(.pageApplied(key, zoneID, moreComing: false, QueueCount()))
    }

    @Test mutating func theSubscriptionIsSavedBeforeTheFirstFetch() {
        #expect(start(isSaved: false) == ["listen", "subscribe"])
        #expect(bench.engine.status.state == .syncing && bench.engine.status.pendingCount == 0)
        #expect(bench.handle(.subscribed(key, QueueCount())) == ["fetch Z"])
        #expect(fetched() == [])
        #expect(bench.engine.status.state == .idle)
    }

    @Test mutating func aSubscriptionThatIsSavedIsNotSavedAgain() {
        #expect(start() == ["listen", "fetch Z"])
    }

    @Test mutating func aStormOfPushesLeadsToOneMoreFetch() {
        _ = start()
        for _ in 0..<100 { #expect(bench.handle(.pushed(key)) == []) }
        #expect(fetched() == ["fetch Z"])
        #expect(fetched() == [])
        #expect(bench.handle(.pushed(key)) == ["fetch Z"])
    }

    @Test mutating func beginningToListenStartsAFetchAndEndsTheWaitForTheNetwork() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.networkUnavailable)))
        #expect(bench.handle(.listening(key, wasForgotten: false)) == ["fetch Z"])
        #expect(fetched() == [] && bench.engine.status.state == .idle)
    }

    @Test mutating func aPushThatComesThroughEndsTheWaitForTheNetwork() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.networkFailure)))
        #expect(bench.handle(.pushed(key)) == ["fetch Z"])
    }

    @Test mutating func aCallThatTheNetworkMayBeBackEndsTheWaitForItAndNoOther() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.networkFailure)))
        #expect(bench.handle(.networkMayBeBack) == ["fetch Z"])
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.serviceUnavailable)))
        #expect(bench.handle(.networkMayBeBack) == [])
        #expect(bench.handle(.pushed(key)) == [], "a pause that the server asked for is a pause")
    }

    @Test mutating func whoSignsInEndsTheStop() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.notAuthenticated)))
        #expect(bench.handle(.pushed(key)) == [])
        #expect(bench.handle(.accountChanged) == ["subscribe"])
        #expect(bench.handle(.subscribed(key, QueueCount())) == ["fetch Z"])
    }

    @Test mutating func aContainerThatWasNamedWhileTheProgramRunsIsAskedThen() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.badContainer)))
        #expect(bench.handle(.pushed(key)) == [], "it needs somebody")
        #expect(bench.handle(.listening(key, wasForgotten: false)) == ["fetch Z"])
    }

    @Test mutating func aPauseThatTheServerAskedForIsKept() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.requestRateLimited)))
        #expect(bench.handle(.listening(key, wasForgotten: false)) == [])
    }

    @Test mutating func aServerThatForgotTheDeviceGetsTheSubscriptionAgain() {
        _ = start()
        _ = fetched()
        #expect(bench.handle(.listening(key, wasForgotten: true)) == ["subscribe"])
        #expect(bench.handle(.subscribed(key, QueueCount())) == ["fetch Z"])
    }

    @Test mutating func aResetZoneGetsTheSubscriptionAgain() {
        _ = start()
        let refused = CKError(
            .changeTokenExpired,
            userInfo: [FullFetchReason.userInfoKey: FullFetchReason.reset.rawValue])
        #expect(bench.handle(.fetchFailed(key, zoneID, refused)) == ["drop reset"])
        #expect(bench.handle(.applied(key, QueueCount())) == ["subscribe"])
    }

    @Test mutating func aProcessWhoseTurnItIsNotDoesNotListen() {
        _ = bench.handle(.processLock(isHeld: false))
        #expect(start(isSaved: false) == [])
        #expect(bench.handle(.processLock(isHeld: true)) == ["listen", "subscribe"])
    }

    @Test mutating func withAnotherDatabaseTheSameZonesAreFollowedAndListenedTo() {
        _ = start()
        _ = fetched()
        bench.engine.restart()
        #expect(bench.engine.databases[key]?.zones.followed == [zoneID])
        #expect(bench.handle(.pushed(key)) == [], "the account in use is read from the database first")
        #expect(
            bench.handle(.useAccount(DatabaseKey.firstAccount, isFetched: false)) == ["listen", "create Z"])
        #expect(bench.handle(.zoneCreated(key, zoneID, nil)) == ["subscribe"])
        #expect(bench.handle(.subscribed(key, QueueCount())) == ["fetch Z"])
        #expect(fetched() == [] && bench.engine.status.state == .idle)
    }

    @Test mutating func aSignInThatWorksAgainEndsTheStop() {
        _ = start()
        _ = bench.handle(.fetchFailed(key, zoneID, CKError(.notAuthenticated)))
        #expect(bench.engine.status.needs([.account(.notAuthenticated)]))
        #expect(bench.handle(.listening(key, wasForgotten: false)) == ["fetch Z"])
    }

    @Test(arguments: CKError.Code.allCases)
    func noErrorOfTheSubscriptionStopsTheSyncInSilence(code: CKError.Code) {
        var bench = EngineBench()
        _ = bench.handle(.listen(key, isSaved: false))
        _ = bench.handle(.follow(key, zoneID, mayBeMissing: false))
        let actions = bench.handle(.subscribeFailed(key, CKError(code)))
        let status = bench.engine.status
        let isSaid =
            status.state == .needsAttention || status.state == .waiting && status.pauseEndDate != nil
        let isVisible = isSaid && !bench.told.isEmpty
        #expect(actions == ["fetch Z"] || isVisible, "\(code)")
        #expect(!actions.contains("subscribe"), "\(code) goes round at once")
    }

    @Test mutating func aRetryByTheAppSavesTheSubscriptionAgain() {
        _ = start()
        _ = fetched()
        #expect(bench.handle(.retry) == ["subscribe"])
    }
}
