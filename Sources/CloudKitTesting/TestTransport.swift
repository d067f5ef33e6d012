import CloudKit
import CloudService
import CloudWire
import Foundation
import Seams

/// Carries a device's requests to the service of its cloud, with the faults that the test ordered.
final class TestTransport: Transport {
    fileprivate let cloud: TestCloud
    fileprivate let deviceNumber: Int

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

// MARK: - Files

extension TestTransport {
    func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let kind: RequestKind = file.source == nil ? .downloadAsset : .uploadAsset
        let request = WireRequest(
            method: file.source == nil ? "GET" : "POST", path: "/" + kind.rawValue, headers: file.headers)
        if cloud.state.withLock({ $0.disconnectedDevices.contains(deviceNumber) }) {
            completion(.failure(.noNetwork))
            return {}
        }
        let fault = cloud.networkFault?(request) ?? .none
        let (orderedFailure, service) = cloud.state.withLock { state in
            state.log.append(
                LoggedRequest(deviceNumber: deviceNumber, kind: kind, request: request, fault: fault))
            return (state.nextOrderedFailure(kind), state.service)
        }
        if fault == .loseRequest {
            completion(.failure(.lost))
        } else if let orderedFailure {
            completion(.ordered(orderedFailure))
        } else {
            let response = service.carry(file)
            completion(fault == .loseReply ? .failure(.lost) : .success(response))
        }
        return {}
    }
}

extension CloudService {
    /// What the server's shell does around a file.
    fileprivate func carry(_ file: FileRequest) -> WireResponse {
        guard let address = URLComponents(string: file.url),
            let ticket = address.queryItems?.first(where: { $0.name == "t" })?.value
        else { return WireResponse(status: 404) }
        do throws(WireError) {
            if let source = file.source { return try upload(source, ticket) }
            let checksum = address.path.split(separator: "/").dropLast().last.map { String($0) } ?? ""
            return try download(file, openAsset(checksum: checksum, ticket: ticket))
        } catch {
            let body = (try? error.json(extras: true)) ?? []
            return WireResponse(status: error.serverErrorCode.httpStatus, body: body)
        }
    }

    private func upload(_ source: any FileSource, _ ticket: String) throws(WireError) -> WireResponse {
        let upload = try beginUpload(ticket: ticket)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            guard let count = try? buffer.withUnsafeMutableBytes({ try source.read(into: $0) }) else {
                upload.cancel()
                return WireResponse(status: 400)
            }
            if count == 0 { break }
            try upload.write(Array(buffer[..<count]))
        }
        return WireResponse(status: 200, body: (try? upload.finish().json()) ?? [])
    }

    private func download(_ file: FileRequest, _ asset: AssetDownload) throws(WireError) -> WireResponse {
        let range = file.headers.first { $0.name == "Range" }?.value.dropFirst("bytes=".count).dropLast()
        var offset = range.flatMap { Int64($0) } ?? 0
        guard offset < asset.bytes || offset == 0 else { return WireResponse(status: 416) }
        let status = offset == 0 ? 200 : 206
        while offset < asset.bytes {
            let bytes = try asset.read(at: offset, bytesMax: 64 << 10)
            guard !bytes.isEmpty, (try? bytes.withUnsafeBytes { try file.sink?.write($0) }) != nil else {
                break
            }
            offset += Int64(bytes.count)
        }
        return WireResponse(status: status)
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
