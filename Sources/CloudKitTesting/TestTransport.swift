import CloudKit
internal import CloudService
internal import CloudWire
import System

/// Sends a device's requests to the service of its cloud, with the scheduled faults.
final class TestTransport: Transport {
    let cloud: TestCloud
    let deviceNumber: Int
    private let account: TestAccount?

    init(cloud: TestCloud, deviceNumber: Int, account: TestAccount?) {
        self.cloud = cloud
        self.deviceNumber = deviceNumber
        self.account = account
    }

    typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts, completion: @escaping Completion
    ) -> TransportCancel {
        guard TestCourier.isWait(request) else {
            carry(request, completion: completion)
            return {}
        }
        if cloud.state.withLock({ $0.disconnectedDevices.contains(deviceNumber) }) {
            completion(.failure(.noNetwork))
            return {}
        }
        return cloud.wait(request, deviceNumber: deviceNumber, completion: completion)
    }

    private func carry(_ request: WireRequest, completion: @escaping Completion) {
        let kind = RequestKind(request)
        guard let (fault, ordered) = verdict(on: request, kind) else {
            return completion(.failure(.noNetwork))
        }
        if fault == .loseRequest { return completion(.failure(.lost)) }
        if let ordered { return completion(.ordered(ordered)) }
        let end: @Sendable (WireResponse) -> Void = { response in
            completion(fault == .loseReply ? .failure(.lost) : .success(self.seen(response)))
        }
        guard let kind, cloud.state.withLock({ $0.faults.hasItems(kind, deviceNumber: deviceNumber) }) else {
            return forward(request, fault, completion, end)
        }
        let split = ItemFaults(request, kind) { self.failure(of: $0, kind) }
        if let split, split.rest == nil { return end(split.merged(with: nil)) }
        forward(split?.rest ?? request, fault, completion) { response in
            let merged = split?.merged(with: response) ?? response
            end(ItemFaults.replacingFound(in: merged, kind) { self.failure(of: $0, kind) })
        }
    }

    /// Determines the fault of a whole request, and logs the request.
    /// - Returns: nil if the device has no network.
    func verdict(
        on request: WireRequest, _ kind: RequestKind?
    ) -> (fault: TestCloud.NetworkFault, failure: WireError?)? {
        if cloud.state.withLock({ $0.disconnectedDevices.contains(deviceNumber) }) { return nil }
        var fault = cloud.networkFault?(request) ?? .none
        let now = cloud.clock.nowMilliseconds()
        var failure = kind == .fetchDatabaseChanges ? cloud.refusal(ofTokenIn: request) : nil
        failure = cloud.state.withLock { $0.throttling.refusal(at: now) } ?? failure
        if fault == .none, failure == nil {
            switch ordered(kind) {
            case .fail(let error)?: failure = error
            case .network(let lost)?: fault = lost
            case .call?, nil: break
            }
        }
        let entry = LoggedRequest(deviceNumber: deviceNumber, kind: kind, request: request, fault: fault)
        cloud.state.withLock { $0.log.append(entry) }
        return (fault, failure)
    }

    /// Returns the scheduled effect, after it has called the closures that are due during the request.
    private func ordered(_ kind: RequestKind?) -> ScheduledFaults.Effect? {
        while let effect = cloud.state.withLock({ $0.faults.next(kind, deviceNumber: deviceNumber) }) {
            guard case .call(let body) = effect else { return effect }
            body()
        }
        return nil
    }

    private func failure(of item: TestItem, _ kind: RequestKind) -> WireError? {
        cloud.state.withLock { $0.faults.failure(of: item, kind, deviceNumber: deviceNumber) }
    }

    /// Passes the request to the service, twice if the network duplicates it.
    private func forward(
        _ request: WireRequest, _ fault: TestCloud.NetworkFault, _ completion: @escaping Completion,
        _ end: @escaping @Sendable (WireResponse) -> Void
    ) {
        let (carrier, service, thread) = cloud.state.withLock { ($0.carrier, $0.service, $0.thread) }
        if let carrier {
            carrier(request) { result in
                switch result {
                case .success(let response): end(response)
                case .failure(let error): completion(.failure(error))
                }
            }
            if fault == .duplicate { carrier(request) { _ in } }
        } else if let thread {
            thread.send(request, completion: end)
            if fault == .duplicate { thread.send(request) { _ in } }
        } else {
            let response = service.respond(to: request)
            if fault == .duplicate { _ = service.respond(to: request) }
            end(response)
        }
    }

    /// Returns the response that a device with an unusable account receives. The server only knows that no user is
    /// signed in.
    private func seen(_ response: WireResponse) -> WireResponse {
        guard [401, 421].contains(response.status), let code = account?.refusal else { return response }
        var error = WireError(ordered: code, retryAfterSeconds: nil)
        error.reason = "The test made the account on this device unusable."
        return WireResponse(status: response.status, body: (try? error.json(extras: true)) ?? [])
    }
}

extension CKError {
    static let noNetwork = CKError(.networkUnavailable, "The device has no network.")
    static let lost = CKError(.networkFailure, "The network lost the request or its response.")
}

extension Result where Success == WireResponse, Failure == CKError {
    /// Returns the failure as the device gets it: from the network for network errors, otherwise from the server.
    static func ordered(_ error: WireError) -> Self {
        let code = error.ckErrorCode.flatMap { CKError.Code(rawValue: $0) }
        if let code, [.networkUnavailable, .networkFailure, .serverResponseLost].contains(code) {
            return .failure(
                CKError(
                    code, error.reason ?? "Ordered by the test.", retryAfterSeconds: error.retryAfterSeconds))
        }
        guard let body = try? error.json(extras: true) else {
            return .failure(CKError(.internalError, "The scheduled failure can't be written as JSON."))
        }
        return .success(
            WireResponse(
                status: error.serverErrorCode.httpStatus, headers: [(WireHeader.protocolVersion, "1")],
                body: body))
    }
}
