import CloudKit
import CloudWire
import Foundation
import System
import Testing

@testable import CloudKit

/// A request that ends before it is sent gives the gate of the user's token to the next one, and isn't sent.
@Suite struct TokenGateTests {
    /// An account of which single reads fail, or do something first.
    private final class FlakyAccount: CloudAccount {
        private struct State {
            var token = "t"
            /// What happens at the reads to come: nil is a read as any other.
            var reads: [(@Sendable () -> Bool)?] = []
        }

        private let state = Lock(State())

        /// - Parameter reads: What happens at the reads from now on. One that returns false fails.
        func plan(_ reads: [(@Sendable () -> Bool)?]) { state.withLock { $0.reads = reads } }

        func signIn(_ token: String) { state.withLock { $0.token = token } }

        func credential() throws(CKError) -> CloudCredential {
            let (read, token) = state.withLock { state in
                (state.reads.isEmpty ? nil : state.reads.removeFirst(), state.token)
            }
            guard read?() ?? true else { throw CKError(.notAuthenticated, "the file can't be read") }
            return CloudCredential(webAuthToken: token)
        }

        func replace(_ token: String, with newToken: String) {}
    }

    private static let page = Result<WireResponse, CKError>.success(
        WireResponse(status: 200, body: Array(#"{"zones": []}"#.utf8)))

    private let account = FlakyAccount()
    private let transport = SilentTransport()
    private let clock = ManualTimeSource(milliseconds: 0)

    private func container() -> CKContainer {
        appleContainer(transport, account: account, timers: ManualTimerSource(clock: clock))
    }

    private func fetch(
        _ container: CKContainer, seconds: Double = 600
    ) -> (CKOperation, Collected<CKError.Code?>) {
        let said = Collected<CKError.Code?>()
        let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
        operation.configuration.timeoutIntervalForResource = seconds
        operation.fetchRecordZonesResultBlock = { said.append($0.code) }
        container.privateCloudDatabase.add(operation)
        return (operation, said)
    }

    @Test func aRequestWhoseTurnComesAfterItsDeadlineGivesTheTurnToTheNext() {
        let container = container()
        let first = fetch(container)
        let late = fetch(container, seconds: 10)
        let next = fetch(container)
        // The timer of the deadline hasn't fired yet when the turn comes.
        clock.advance(bySeconds: 20)
        transport.answer(Self.page)
        #expect(first.1.all == [nil] && late.1.all == [.networkFailure])
        #expect(transport.waitCount == 1 && next.1.all.isEmpty)
        transport.answer(Self.page)
        #expect(next.1.all == [nil])
    }

    @Test func aRequestWhoseCredentialCannotBeReadAtItsTurnGivesTheTurnToTheNext() {
        let container = container()
        let first = fetch(container)
        let failing = fetch(container)
        let next = fetch(container)
        account.plan([{ false }])
        transport.answer(Self.page)
        #expect(first.1.all == [nil] && failing.1.all == [.notAuthenticated])
        #expect(transport.waitCount == 1 && next.1.all.isEmpty)
        transport.answer(Self.page)
        #expect(next.1.all == [nil])
    }

    @Test(arguments: [true, false])
    func aRequestThatIsCancelledAtItsTurnGivesTheTurnToTheNext(isReadable: Bool) {
        let container = container()
        let first = fetch(container)
        let cancelled = fetch(container)
        let next = fetch(container)
        let operation = cancelled.0
        account.plan([
            {
                operation.cancel()
                return isReadable
            }
        ])
        transport.answer(Self.page)
        #expect(first.1.all == [nil] && cancelled.1.all == [.operationCancelled])
        #expect(transport.waitCount == 1 && next.1.all.isEmpty)
        transport.answer(Self.page)
        #expect(next.1.all == [nil])
    }

    /// Between the two steps by which a cancelled request ends, its response lets it begin again, and that fails.
    @Test func aRequestThatFailsWhileItIsBeingCancelledGivesTheGateBack() throws {
        let connection = try container().resolved().connection
        let answers = Collected<RequestRun.Completion>()
        let refusal = Result<WireResponse, CKError>.success(
            WireResponse(status: 401, body: Array(#"{"serverErrorCode":"AUTHENTICATION_FAILED"}"#.utf8)))
        let account = account
        let attempts = RequestAttempts {
            account.signIn("newer")
            // It sees the newer sign-in, then that the token needs the gate, and then nothing.
            account.plan([nil, nil, { false }])
            answers.all.first?(refusal)
        }
        let said = Collected<CKError.Code?>()
        let run = RequestRun(
            connection: connection, rules: RequestRules(), kind: "zones/list",
            completion: { if case .failure(let error) = $0 { said.append(error.code) } }, attempts: attempts
        ) { _, _, completion in
            answers.append(completion)
            return {}
        }
        run.attempt()
        #expect(answers.all.count == 1)
        run.cancel()
        #expect(said.all == [.operationCancelled] && answers.all.count == 1)
        let entered = Lock(false)
        let leaveQueue = connection.tokenGate.enter { entered.withLock { $0 = true } }
        #expect(entered.withLock { $0 })
        leaveQueue()
    }
}
