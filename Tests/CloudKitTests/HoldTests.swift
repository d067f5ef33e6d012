import CloudKit
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// A server that says when to come back isn't asked before, by whichever operation.
@Suite struct HoldTests {
    private static func busy(_ code: String, _ seconds: Int, status: Int = 503) -> Result<
        WireResponse, CKError
    > {
        .success(
            WireResponse(
                status: status,
                body: Array(#"{"serverErrorCode":"\#(code)","retryAfter":\#(seconds)}"#.utf8)))
    }

    private static let zones = Result<WireResponse, CKError>.success(
        WireResponse(status: 200, body: Array(#"{"zones":[]}"#.utf8)))
    private static let nothing = Result<WireResponse, CKError>.success(
        WireResponse(
            status: 200, body: Array(#"{"records":[{"recordName":"1","serverErrorCode":"NOT_FOUND"}]}"#.utf8))
    )

    private func fetch(
        _ database: CKDatabase, qualityOfService: QualityOfService = .default
    ) -> CKError? {
        let said = Collected<CKError>()
        let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
        operation.configuration.qualityOfService = qualityOfService
        operation.perRecordResultBlock = {
            if case .failure(let error as CKError) = $1 { said.append(error) }
        }
        operation.fetchRecordsResultBlock = {
            if case .failure(let error as CKError) = $0 { said.append(error) }
        }
        database.add(operation)
        return said.all.first
    }

    @Test(arguments: [
        ("TRY_AGAIN_LATER", 503, CKError.Code.serviceUnavailable), ("THROTTLED", 429, .requestRateLimited),
    ])
    func noOperationIsSentBeforeTheServersTime(code: String, status: Int, expected: CKError.Code) {
        for qualityOfService in [QualityOfService.userInitiated, .background] {
            let line = Line([Self.busy(code, 20, status: status), Self.nothing])
            let database = line.database()
            #expect(fetch(database)?.code == expected)
            line.pass(seconds: 5)
            let held = fetch(database, qualityOfService: qualityOfService)
            #expect(held?.code == .requestRateLimited && held?.retryAfterSeconds == 15)
            line.pass(seconds: 14.9)
            #expect(fetch(database, qualityOfService: qualityOfService)?.code == .requestRateLimited)
            #expect(line.requests.all.count == 1)
            line.pass(seconds: 0.1)
            #expect(fetch(database, qualityOfService: qualityOfService)?.code == .unknownItem)
            #expect(line.requests.all.count == 2)
        }
    }

    @Test func otherRequestsMayGo() async throws {
        let line = Line([Self.busy("THROTTLED", 20), Self.zones, Self.nothing])
        let container = line.container()
        #expect(fetch(container.privateCloudDatabase)?.code == .requestRateLimited)
        #expect(try await container.privateCloudDatabase.allRecordZones().isEmpty)
        #expect(fetch(container.publicCloudDatabase)?.code == .unknownItem)
        // One of another container, which has a connection of its own.
        let other = Line([Self.nothing])
        #expect(fetch(other.database())?.code == .unknownItem)
    }

    @Test(arguments: [
        busy("ZONE_BUSY", 20), busy("TRY_AGAIN_LATER", 0), busy("BAD_REQUEST", 20, status: 400),
    ])
    func whatIsNoPauseOfTheServiceHoldsNothingBack(_ answer: Result<WireResponse, CKError>) {
        let line = Line([answer, Self.nothing])
        let database = line.database()
        #expect(fetch(database) != nil)
        #expect(fetch(database)?.code == .unknownItem && line.requests.all.count == 2)
    }

    @Test func anotherUserIsNotHeldBack() {
        let user = Lock("_ada")
        let account = NamedAccount(user)
        let line = Line([Self.busy("THROTTLED", 20), Self.nothing])
        let database = line.database(account)
        #expect(fetch(database)?.code == .requestRateLimited)
        user.withLock { $0 = "_eve" }
        #expect(fetch(database)?.code == .unknownItem)
        user.withLock { $0 = "_ada" }
        #expect(fetch(database)?.retryAfterSeconds == 20)
    }

    private struct NamedAccount: CloudAccount {
        let user: Lock<String>
        init(_ user: Lock<String>) { self.user = user }
        func credential() -> CloudCredential {
            CloudCredential(webAuthToken: "t", userRecordName: user.withLock { $0 })
        }
        func replace(_ token: String, with newToken: String) {}
    }

    @Test func whatIsRememberedIsBounded() {
        let holds = ThrottledRequests()
        for number in 0..<1_000 {
            holds.hold("\(number)", seconds: Double(number + 1), nowMilliseconds: 0)
        }
        #expect(
            (0..<1_000).filter { holds.secondsLeft("\($0)", nowMilliseconds: 0) != nil }.count
                == ThrottledRequests.countMax)
        #expect(holds.secondsLeft("999", nowMilliseconds: 0) == 1_000)
        holds.hold("far", seconds: 1e18, nowMilliseconds: 0)
        #expect(holds.secondsLeft("far", nowMilliseconds: 0) == ThrottledRequests.secondsMax)
        holds.hold("far", seconds: 1, nowMilliseconds: 0)
        #expect(holds.secondsLeft("far", nowMilliseconds: 0) == ThrottledRequests.secondsMax)
        #expect(holds.secondsLeft("far", nowMilliseconds: 86_400_000) == nil)
    }
}
