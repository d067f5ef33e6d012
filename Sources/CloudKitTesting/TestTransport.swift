import CloudKit
import CloudService
import CloudWire
import Seams

/// Carries a device's requests to the service of its cloud, with the faults that the test ordered.
final class TestTransport: Transport {
    private let cloud: TestCloud
    private let deviceNumber: Int

    init(cloud: TestCloud, deviceNumber: Int) {
        self.cloud = cloud
        self.deviceNumber = deviceNumber
    }

    func send(
        _ request: WireRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
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

    private func carry(
        _ request: WireRequest, completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) {
        if cloud.state.withLock({ $0.disconnectedDevices.contains(deviceNumber) }) {
            return completion(.failure(.noNetwork))
        }
        let kind = RequestKind(request)
        let fault = cloud.networkFault?(request) ?? .none
        let (orderedFailure, service, thread) = cloud.state.withLock { state in
            state.log.append(
                LoggedRequest(deviceNumber: deviceNumber, kind: kind, request: request, fault: fault))
            return (kind.flatMap { state.nextOrderedFailure($0) }, state.service, state.thread)
        }
        if fault == .loseRequest { return completion(.failure(.lost)) }
        if let orderedFailure { return completion(.ordered(orderedFailure)) }
        if let carrier = cloud.carrier {
            carrier(request) { completion(fault == .loseReply ? .failure(.lost) : $0) }
            if fault == .duplicate { carrier(request) { _ in } }
            return
        }
        let deliver: @Sendable (WireResponse) -> Void = { response in
            completion(fault == .loseReply ? .failure(.lost) : .success(response))
        }
        if let thread {
            thread.send(request, completion: deliver)
            if fault == .duplicate { thread.send(request) { _ in } }
        } else {
            let response = service.respond(to: request)
            if fault == .duplicate { _ = service.respond(to: request) }
            deliver(response)
        }
    }
}

extension TestCloud.State {
    fileprivate mutating func nextOrderedFailure(_ kind: RequestKind) -> WireError? {
        guard let failures = orderedFailures[kind], let next = failures.first else { return nil }
        orderedFailures[kind] = Array(failures.dropFirst())
        return next
    }
}

extension CKError {
    fileprivate static let noNetwork = CKError(.networkUnavailable, "The device has no network.")
    fileprivate static let lost = CKError(.networkFailure, "The network lost the request or its answer.")
}

extension Result where Success == WireResponse, Failure == CKError {
    /// The failure as the device meets it: from the network for the network's own codes, else from the
    /// server.
    fileprivate static func ordered(_ error: WireError) -> Self {
        let code = error.ckErrorCode.flatMap { CKError.Code(rawValue: $0) }
        if let code, [.networkUnavailable, .networkFailure, .serverResponseLost].contains(code) {
            return .failure(
                CKError(code, "Ordered by the test.", retryAfterSeconds: error.retryAfterSeconds))
        }
        guard let body = try? error.json(extras: true) else {
            return .failure(CKError(.internalError, "A failure that JSON can't hold was ordered."))
        }
        return .success(
            WireResponse(
                status: error.serverErrorCode.httpStatus, headers: [(WireHeader.protocolVersion, "1")],
                body: body))
    }
}
