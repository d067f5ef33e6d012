import CloudKit
internal import CloudService
internal import CloudWire
import Foundation
import System

/// Transfers of files between a device and the service.
extension TestTransport {
    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let kind: RequestKind = file.source == nil ? .downloadAsset : .uploadAsset
        let request = WireRequest(
            method: file.source == nil ? "GET" : "POST", path: "/" + kind.rawValue, headers: file.headers)
        switch verdict(on: request, kind) {
        case nil: completion(.failure(.noNetwork))
        case (.loseRequest, _)?: completion(.failure(.lost))
        case (_, let failure?)?: completion(.ordered(failure))
        case (let fault, nil)?:
            let response = cloud.service.carry(file)
            completion(fault == .loseReply ? .failure(.lost) : .success(response))
        }
        return {}
    }
}

extension CloudService {
    /// Handles a file as the server around the service does.
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

    private func upload(_ source: any UploadSource, _ ticket: String) throws(WireError) -> WireResponse {
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
        try? file.sink?.begin(
            status: status, contentRange: "bytes \(offset)-\(asset.bytes - 1)/\(asset.bytes)")
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
