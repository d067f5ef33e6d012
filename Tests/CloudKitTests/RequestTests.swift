import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import HTTPClient
import System
import Testing

/// When requests end, and when they are sent again.
@Suite struct RequestTests {
    private static let saved = Result<WireResponse, CKError>.success(
        WireResponse(
            status: 200, headers: [(WireHeader.protocolVersion, "1")],
            body: Array(#"{"records":[{"recordName":"1","recordType":"todo","recordChangeTag":"a"}]}"#.utf8)))

    private func save(
        _ database: CKDatabase, qualityOfService: QualityOfService = .default,
        requestSeconds: Double = 60, resourceSeconds: Double = 600
    ) -> (operation: CKModifyRecordsOperation, said: Collected<CKError.Code?>) {
        let said = Collected<CKError.Code?>()
        let operation = CKModifyRecordsOperation(
            recordsToSave: [CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1"))])
        operation.configuration.qualityOfService = qualityOfService
        operation.configuration.timeoutIntervalForRequest = requestSeconds
        operation.configuration.timeoutIntervalForResource = resourceSeconds
        operation.modifyRecordsResultBlock = { said.append($0.code) }
        database.add(operation)
        return (operation, said)
    }

    @Test func anOperationThatIsNeverAnsweredEnds() {
        let line = Line()
        let (operation, said) = save(line.database(), requestSeconds: 10)
        line.pass(seconds: 9.9)
        #expect(said.all.isEmpty && operation.isExecuting)
        line.pass(seconds: 0.2)
        #expect(said.all == [.networkFailure] && operation.isFinished)
        #expect(line.cancelled.withLock { $0 } == 1 && line.requests.all.count == 1)
    }

    @Test func theWholeOperationEndsInItsTime() {
        let line = Line()
        let (operation, said) = save(line.database(), requestSeconds: 60, resourceSeconds: 5)
        line.pass(seconds: 5)
        #expect(said.all == [.networkFailure] && operation.isFinished)
    }

    @Test(arguments: [QualityOfService.default, .userInitiated, .userInteractive])
    func anUrgentOperationEndsWithTheNetworksError(qualityOfService: QualityOfService) {
        let line = Line([.failure(CKError(.networkFailure)), Self.saved])
        let (_, said) = save(line.database(), qualityOfService: qualityOfService)
        #expect(said.all == [.networkFailure])
        line.pass(seconds: 600)
        #expect(line.requests.all.count == 1)
    }

    @Test func aPatientOperationDoesNotWaitForACertificateToBecomeGood() {
        let line = Line([.failure(CKError(HTTPClientError(.untrustedCertificate, "why"))), Self.saved])
        let (_, said) = save(line.database(), qualityOfService: .utility)
        #expect(said.all == [.networkFailure])
        line.pass(seconds: 600)
        #expect(line.requests.all.count == 1)
    }

    @Test(arguments: [QualityOfService.utility, .background])
    func aPatientOperationContinuesAfterNetworkErrors(qualityOfService: QualityOfService) throws {
        let line = Line([
            .failure(CKError(.networkUnavailable)), .failure(CKError(.networkFailure)),
            .failure(CKError(.serverResponseLost)), Self.saved,
        ])
        let (operation, said) = save(line.database(), qualityOfService: qualityOfService)
        #expect(said.all.isEmpty && line.requests.all.count == 1)
        // Full pauses of 1, 2 and 4 seconds; the least is half of it.
        for (pause, attempts) in [(1.0, 2), (2.0, 3), (4.0, 4)] {
            line.pass(seconds: pause / 2 - 0.01)
            #expect(line.requests.all.count == attempts - 1)
            line.pass(seconds: pause / 2 + 0.01)
            #expect(line.requests.all.count == attempts)
        }
        #expect(said.all == [nil] && operation.isFinished)
        let names = line.requests.all.map { $0.header(WireHeader.operation) }
        #expect(names[0]?.isEmpty == false && Set(names).count == 1)
        #expect(Set(line.requests.all.map(\.body)).count == 1)
    }

    @Test func aPatientOperationGivesUpWhenItsTimeIsOver() {
        let line = Line(Array(repeating: .failure(CKError(.networkUnavailable)), count: 1_000))
        let (_, said) = save(line.database(), qualityOfService: .utility, resourceSeconds: 30)
        for _ in 0..<300 { line.pass(seconds: 0.1) }
        #expect(said.all == [.networkUnavailable])
        let count = line.requests.all.count
        #expect((5...7).contains(count), "\(count)")
        line.pass(seconds: 600)
        #expect(line.requests.all.count == count)
    }

    @Test(arguments: ["THROTTLED", "TRY_AGAIN_LATER", "ZONE_BUSY"])
    func whenTheServerIsBusyTheAppLearnsHowLongToWait(serverErrorCode: String) async throws {
        // Apple's framework hands these errors out too, whatever the quality of service: the server named a time, and
        // only the app knows what else it would send meanwhile.
        for (body, headers) in [
            (#","retryAfter":7"#, []), ("", [("Retry-After", "7")]),
        ] {
            let line = Line([
                .success(
                    WireResponse(
                        status: 503, headers: headers,
                        body: Array(#"{"serverErrorCode":"\#(serverErrorCode)"\#(body)}"#.utf8)))
            ])
            let error = Collected<CKError>()
            let operation = CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")])
            operation.configuration.qualityOfService = .background
            operation.fetchRecordsResultBlock = { result in
                if case .failure(let failure as CKError) = result { error.append(failure) }
            }
            line.database().add(operation)
            #expect(error.all.first?.retryAfterSeconds == 7)
            line.pass(seconds: 100)
            #expect(line.requests.all.count == 1)
        }
    }

    @Test func aCancelledOperationGivesItsRequestUp() {
        let line = Line()
        let (operation, said) = save(line.database())
        operation.cancel()
        #expect(said.all == [.operationCancelled] && line.cancelled.withLock { $0 } == 1)
        line.pass(seconds: 600)
        #expect(said.all == [.operationCancelled])
    }

    @Test func anOperationCancelledInAPauseSendsNoMore() {
        let line = Line([.failure(CKError(.networkUnavailable))])
        let (operation, said) = save(line.database(), qualityOfService: .utility)
        operation.cancel()
        line.pass(seconds: 600)
        #expect(said.all == [.operationCancelled] && line.requests.all.count == 1)
    }

    @Test func eachWriteHasAnIDAndEachRequestItsCaller() throws {
        let line = Line([Self.saved, Self.saved])
        let database = line.database(
            FixedAccount(CloudCredential(webAuthToken: "user", apiToken: "app", deviceID: "device")))
        _ = save(database)
        _ = save(database)
        database.add(CKFetchRecordsOperation(recordIDs: [CKRecord.ID(recordName: "1")]))
        let requests = line.requests.all
        #expect(Set(requests.prefix(2).map { $0.header(WireHeader.operation) }).count == 2)
        #expect(requests[2].header(WireHeader.operation) == nil)
        for request in requests {
            #expect(request.queryItem("ckAPIToken") == "app" && request.queryItem("clientId") == "device")
            #expect(request.queryItem("ckWebAuthToken") == "user" && request.query.count == 3)
        }
    }

    /// Somebody signs in while the program runs.
    private final class ChangingAccount: CloudAccount {
        let current: Lock<CloudCredential>
        init(_ token: String?) { current = Lock(CloudCredential(webAuthToken: token)) }
        func credential() -> CloudCredential { current.withLock { $0 } }
        func replace(_ token: String, with newToken: String) {
            current.withLock { $0.webAuthToken = newToken }
        }
    }

    @Test(arguments: [(401, "AUTHENTICATION_FAILED"), (421, "AUTHENTICATION_REQUIRED")])
    func aRefusedSignInIsReadAgainOnce(status: Int, code: String) {
        let refusal = Result<WireResponse, CKError>.success(
            WireResponse(status: status, body: Array(#"{"serverErrorCode":"\#(code)"}"#.utf8)))
        let account = ChangingAccount("old")
        let line = Line([refusal, refusal, Self.saved, refusal])
        let first = save(line.database(account))
        #expect(first.said.all == [.notAuthenticated] && line.requests.all.count == 1)

        let changed = Line([refusal, Self.saved])
        let transport = SignsInMeanwhile(changed) { account.current.withLock { $0.webAuthToken = "new" } }
        let container = CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(transport: transport, execution: .inline, account: account))
        let second = save(container.privateCloudDatabase)
        #expect(second.said.all == [nil])
        #expect(changed.requests.all.map { $0.queryItem("ckWebAuthToken") } == ["old", "new"])
        #expect(Set(changed.requests.all.map { $0.header(WireHeader.operation) }).count == 1)
    }

    private static func refusal() -> Result<WireResponse, CKError> {
        .success(WireResponse(status: 401, body: Array(#"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#.utf8)))
    }

    @Test(arguments: [refusal(), .failure(CKError(.networkFailure))])
    func whatOneUserBeganIsNotSentAsAnother(_ first: Result<WireResponse, CKError>) {
        let account = ChangingAccount("ada's")
        account.current.withLock { $0.userRecordName = "_ada" }
        let line = Line([first, Self.saved])
        let transport = SignsInMeanwhile(line) {
            account.current.withLock {
                $0.webAuthToken = "eve's"
                $0.userRecordName = "_eve"
            }
        }
        let container = CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(
                transport: transport, execution: .inline, account: account, timers: line.timers))
        let (operation, said) = save(container.privateCloudDatabase, qualityOfService: .utility)
        line.pass(seconds: 5)
        #expect(said.all == [.notAuthenticated] && operation.isFinished)
        #expect(line.requests.all.map { $0.queryItem("ckWebAuthToken") } == ["ada's"])
        // What begins now is the other user's own.
        #expect(save(container.privateCloudDatabase).said.all == [nil])
    }

    private final class SignsInMeanwhile: Transport {
        let line: Line
        let signIn: @Sendable () -> Void
        init(_ line: Line, _ signIn: @escaping @Sendable () -> Void) {
            self.line = line
            self.signIn = signIn
        }

        func send(
            _ request: WireRequest, timeouts: RequestTimeouts,
            completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
        ) -> TransportCancel {
            line.send(request, timeouts: timeouts) { result in
                self.signIn()
                completion(result)
            }
        }
    }

    @Test func aTokenThatTheServerReplacesIsUsedOnce() {
        var answer = WireResponse(status: 200, headers: [("x-apple-cloudkit-web-auth-token", "second")])
        answer.body = Array(
            #"{"records":[{"recordName":"1","recordType":"todo","recordChangeTag":"a"}]}"#.utf8)
        let line = Line([.success(answer), Self.saved])
        let database = line.database()
        _ = save(database)
        _ = save(database)
        #expect(line.requests.all.map { $0.queryItem("ckWebAuthToken") } == ["t", "second"])
    }

    @Test func thePausesGrowUpToALimitAndDiffer() {
        let longest = (1...10).map { RequestRules.pauseMilliseconds(afterAttempt: $0, unitInterval: 1) }
        #expect(longest == [1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000, 60000])
        #expect(RequestRules.pauseMilliseconds(afterAttempt: 3, unitInterval: 0) == 2000)
        #expect(RequestRules.pauseMilliseconds(afterAttempt: .max, unitInterval: 1) == 60000)
    }
}
