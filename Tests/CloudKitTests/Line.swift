import CloudKit
import CloudWire
import Foundation
import System

/// Answers and failures in order, then silence; with a clock that the test moves.
final class Line: Transport {
    let clock = ManualTimeSource(milliseconds: 0)
    let timers: ManualTimerSource
    let requests = Collected<WireRequest>()
    let cancelled = Lock(0)
    private let answers: Lock<[Result<WireResponse, CKError>]>

    init(_ answers: [Result<WireResponse, CKError>] = []) {
        self.answers = Lock(answers)
        timers = ManualTimerSource(clock: clock)
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        requests.append(request)
        let answer = answers.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        guard let answer else { return { self.cancelled.withLock { $0 += 1 } } }
        completion(answer)
        return {}
    }

    func pass(seconds: Double) {
        clock.advance(bySeconds: seconds)
        timers.runDue()
    }

    func container(_ account: any CloudAccount = FixedAccount(CloudCredential(webAuthToken: "t")))
        -> CKContainer
    {
        CKContainer(
            identifier: "iCloud.test",
            connection: CloudConnection(
                transport: self, execution: .inline, account: account, timers: timers,
                random: SeededRandomSource(seed: 1)))
    }

    func database(_ account: any CloudAccount = FixedAccount(CloudCredential(webAuthToken: "t")))
        -> CKDatabase
    {
        container(account).privateCloudDatabase
    }
}
