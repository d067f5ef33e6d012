package import CloudKit
internal import CloudService
package import CloudWire
import System

/// The long-poll requests that devices hold open to wait for notifications.
struct TestCourier: Sendable {
    /// Milliseconds after which a wait ends without a notification, as on a server.
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

    /// Removes a wait. Its remover answers it, so each wait is answered once.
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
    /// Delivers pending pushes to listening devices, and lets them act on the moved clock: an interrupted
    /// device tries again, and a wait that has lasted long enough ends.
    ///
    /// With `Execution.inline` this happens only here; with `threads`, pushes are delivered automatically.
    public func deliverPushes() {
        guard execution == .inline else { return }
        let old = clock.nowMilliseconds() - TestCourier.holdMilliseconds
        for wait in state.withLock({ $0.courier.takeAll { $0.atMilliseconds <= old } }) {
            wait.completion(.success(WireResponse(status: 200)))
        }
        timers.runDue()
        while (try? service.preparePushes()) == true {}
        // A device waits again within the call that answers it, and then gets its next push.
        for number in state.withLock({ $0.courier.waits.keys.sorted() }) {
            guard let token = state.withLock({ $0.courier.waits[number]?.apnsToken }) else { continue }
            answer(number, Self.result { try self.service.takePush(apnsToken: token) })
        }
    }

    /// Number of devices that wait for a push.
    package var waitCount: Int { state.withLock { $0.courier.waits.count } }

    /// Handles a request that didn't arrive through a device's transport. It may be a wait for pushes.
    /// - Returns: a closure that cancels the wait.
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

    /// Adds a device's wait, and answers it at once if a push is pending. The carrier isn't used, because it would hold
    /// the thread until the wait ends.
    func wait(
        _ request: WireRequest, deviceNumber: Int,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let token = request.queryItem("token") ?? ""
        let after = request.queryItem(WireHeader.afterItem)
        let wait = TestCourier.Wait(
            deviceNumber: deviceNumber, apnsToken: token, atMilliseconds: clock.nowMilliseconds(),
            completion: completion)
        // Stored before the service is called, so that a push in between finds it.
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

    /// Called by the service, on its thread, when pushes are pending for these devices.
    func pushesReady(_ apnsTokens: [String]) {
        let (numbers, thread) = state.withLock { state in
            let waits = state.courier.waits.filter { apnsTokens.contains($0.value.apnsToken) }
            return (waits.sorted { $0.key < $1.key }, state.thread)
        }
        for (number, wait) in numbers {
            thread?.takePush(apnsToken: wait.apnsToken, acknowledging: nil) { self.answer(number, $0) }
        }
    }

    /// Ends a wait with a push or an error. With nil, the wait stays open.
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

    /// Cuts the waits that `isMeant` selects.
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
