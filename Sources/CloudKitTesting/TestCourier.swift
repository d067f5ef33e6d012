package import CloudKit
internal import CloudService
package import CloudWire
import System

/// The waits for notifications that devices hold open.
struct TestCourier: Sendable {
    /// Milliseconds after which a wait is answered with nothing, as a server does.
    static let holdMilliseconds: Int64 = 25_000

    struct Wait: Sendable {
        var deviceNumber: Int
        var apnsToken: String
        var atMilliseconds: Int64
        var completion: @Sendable (Result<WireResponse, CKError>) -> Void
    }

    private(set) var waits: [Int: Wait] = [:]
    private var lastNumber = 0

    mutating func add(_ wait: Wait) -> Int {
        lastNumber += 1
        waits[lastNumber] = wait
        return lastNumber
    }

    /// Who takes a wait out is who answers it: so each is answered once.
    mutating func take(_ number: Int) -> Wait? { waits.removeValue(forKey: number) }

    mutating func takeAll(where isMeant: (Wait) -> Bool) -> [Wait] {
        let numbers = waits.filter { isMeant($0.value) }.keys.sorted()
        return numbers.compactMap { waits.removeValue(forKey: $0) }
    }

    static func isWait(_ request: WireRequest) -> Bool {
        request.method == "GET" && request.path.hasSuffix("/courier")
    }
}

extension TestCloud {
    /// Tells the devices that listen what others changed, and lets what waits for the clock go on: an interrupted
    /// device tries again, a wait that was held long enough is answered.
    ///
    /// With `inline` nothing of that happens by itself, so that the test says when; with `threads` pushes come by
    /// themselves.
    public func deliverPushes() {
        guard execution == .inline else { return }
        let old = clock.nowMilliseconds() - TestCourier.holdMilliseconds
        for wait in state.withLock({ $0.courier.takeAll { $0.atMilliseconds <= old } }) {
            wait.completion(.success(WireResponse(status: 200)))
        }
        timers.runDue()
        while (try? service.preparePushes()) == true {}
        // A device waits again in the call that answers it; what else is there for it is given then.
        for number in state.withLock({ $0.courier.waits.keys.sorted() }) {
            guard let token = state.withLock({ $0.courier.waits[number]?.apnsToken }) else { continue }
            answer(number, Self.result { try self.service.takePush(apnsToken: token) })
        }
    }

    /// How many devices wait to be told.
    package var waitCount: Int { state.withLock { $0.courier.waits.count } }

    /// Answers a request that came by another way than a device's transport, a wait for pushes among them.
    /// - Returns: what gives the wait up.
    @discardableResult
    package func answer(
        to request: WireRequest, completion: @escaping @Sendable (WireResponse) -> Void
    ) -> TransportCancel {
        if TestCourier.isWait(request) {
            return wait(request, deviceNumber: 0) { result in
                completion((try? result.get()) ?? WireResponse(status: 503))
            }
        }
        let (service, thread) = state.withLock { ($0.service, $0.thread) }
        if let thread {
            thread.send(request, completion: completion)
        } else {
            completion(service.respond(to: request))
        }
        return {}
    }

    /// Takes a device's wait: what is there for it is given at once. A carrier would hold the thread
    /// until the wait ends, so it is not used.
    func wait(
        _ request: WireRequest, deviceNumber: Int,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let token = request.queryItem("token") ?? ""
        let after = request.queryItem(WireHeader.afterItem)
        let wait = TestCourier.Wait(
            deviceNumber: deviceNumber, apnsToken: token, atMilliseconds: clock.nowMilliseconds(),
            completion: completion)
        // Kept before the service is asked: a push that comes in between finds it.
        let (number, service, thread) = state.withLock { state in
            (state.courier.add(wait), state.service, state.thread)
        }
        if let thread {
            thread.takePush(apnsToken: token, acknowledging: after) { self.answer(number, $0) }
        } else {
            answer(number, Self.result { try service.takePush(apnsToken: token, acknowledging: after) })
        }
        return { [weak self] in _ = self?.state.withLock { $0.courier.take(number) } }
    }

    /// Pushes wait for these devices; called by the service, on its thread.
    func pushesReady(_ apnsTokens: [String]) {
        let (numbers, thread) = state.withLock { state in
            let waits = state.courier.waits.filter { apnsTokens.contains($0.value.apnsToken) }
            return (waits.sorted { $0.key < $1.key }, state.thread)
        }
        for (number, wait) in numbers {
            thread?.takePush(apnsToken: wait.apnsToken, acknowledging: nil) { self.answer(number, $0) }
        }
    }

    /// Answers a wait with a push or a refusal; nothing leaves it open.
    private func answer(_ number: Int, _ result: Result<CourierPush?, WireError>) {
        let response: WireResponse
        switch result {
        case .success(nil): return
        case .success(let push?): response = WireResponse(status: 200, body: push.payload)
        case .failure(let error):
            response = WireResponse(
                status: error.serverErrorCode.httpStatus, body: (try? error.json()) ?? [])
        }
        state.withLock { $0.courier.take(number) }?.completion(.success(response))
    }

    /// Cuts the waits of which `isMeant` says so.
    func cutWaits(where isMeant: (TestCourier.Wait) -> Bool) {
        for wait in state.withLock({ $0.courier.takeAll(where: isMeant) }) {
            wait.completion(.failure(CKError(.networkFailure, "The connection was cut.")))
        }
    }

    private static func result(_ take: () throws -> CourierPush?) -> Result<CourierPush?, WireError> {
        do {
            return .success(try take())
        } catch {
            return .failure(error as? WireError ?? WireError(.internalError, reason: "\(error)"))
        }
    }
}
