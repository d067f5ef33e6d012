import CloudKit
import CloudService
import CloudStore
import CloudWire
import Crypto
import Foundation

/// A file on its way, as the network has it.
struct CarriedFile: @unchecked Sendable {
    // Sendable because a run and all that belongs to it is used by one thread at a time (`SimulatedThread`).
    let url: String
    /// The first byte that is asked for.
    let offset: Int64
    /// What is sent; nil for what is fetched.
    let upload: [UInt8]?
    /// What takes the bytes that are fetched.
    let sink: (any DownloadSink)?

    init(_ request: FileRequest) throws {
        url = request.url
        let range = request.headers.first { $0.name == "Range" }?.value.dropFirst("bytes=".count).dropLast()
        offset = range.flatMap { Int64($0) } ?? 0
        upload = try request.source.map { try Self.bytes(of: $0) }
        sink = request.sink
    }

    private static let bufferBytes = 64 << 10

    private static func bytes(of source: any UploadSource) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: bufferBytes)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try source.read(into: $0) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Gives the sink the first bytes of an answer.
    func take(_ response: WireResponse, bytesMax: Int = .max) {
        guard let sink, response.status == 200 || response.status == 206 else { return }
        let range = response.headers.first { $0.name == "Content-Range" }?.value
        do {
            try sink.begin(status: response.status, contentRange: range)
            var rest = response.body.prefix(bytesMax)
            while !rest.isEmpty {
                try rest.prefix(Self.bufferBytes).withUnsafeBytes { try sink.write($0) }
                rest = rest.dropFirst(Self.bufferBytes)
            }
        } catch {
            // The sink says so itself, at the end.
        }
    }
}

extension CloudService {
    /// What the server's shell does around a file.
    func carry(_ file: CarriedFile) -> WireResponse {
        guard let address = URLComponents(string: file.url),
            let ticket = address.queryItems?.first(where: { $0.name == "t" })?.value
        else { return WireResponse(status: 404) }
        do throws(WireError) {
            if let bytes = file.upload {
                let upload = try beginUpload(ticket: ticket)
                try upload.write(bytes)
                return WireResponse(status: 200, body: (try? upload.finish().json()) ?? [])
            }
            let checksum = address.path.split(separator: "/").dropLast().last.map { String($0) } ?? ""
            return try download(file, openAsset(checksum: checksum, ticket: ticket))
        } catch {
            let body = (try? error.json(extras: true)) ?? []
            return WireResponse(status: error.serverErrorCode.httpStatus, body: body)
        }
    }

    private func download(_ file: CarriedFile, _ asset: AssetDownload) throws(WireError) -> WireResponse {
        guard file.offset < asset.bytes || file.offset == 0 else { return WireResponse(status: 416) }
        let bytes = try asset.read(at: file.offset, bytesMax: Int(asset.bytes))
        let range = "bytes \(file.offset)-\(asset.bytes - 1)/\(asset.bytes)"
        return WireResponse(
            status: file.offset == 0 ? 200 : 206, headers: [("Content-Range", range)], body: bytes)
    }
}

extension MemoryAssetStore {
    func drop(_ bytes: [UInt8]) throws {
        _ = remove(try SHA256.hash(bytes), ifOlderThan: .max)
    }

    /// The bytes of all files.
    var contents: [[UInt8]] {
        files(after: nil, filesMax: .max).compactMap { file in
            open(file.digest).flatMap { try? $0.read(at: 0, bytesMax: Int(file.bytes)) }
        }
    }

    func put(_ bytes: [UInt8]) throws {
        let writer = begin()
        try writer.write(bytes)
        _ = try writer.finish()
    }
}
