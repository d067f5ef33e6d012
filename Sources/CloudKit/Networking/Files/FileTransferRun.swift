internal import CloudWire
import Foundation
internal import System

/// Transfers one file over a transport, once for each attempt.
final class FileTransferRun: Sendable {
    private let transfer: FileTransfer
    private let transport: any Transport
    private let cache: AssetCache?
    private let meter: ProgressMeter
    private let execution: Execution

    init(_ transfer: FileTransfer, over connection: CloudConnection, meter: ProgressMeter) {
        self.meter = meter
        self.transfer = transfer
        transport = connection.transport
        cache = connection.assetCache
        execution = connection.execution
    }

    typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void

    func attempt(timeouts: RequestTimeouts, completion: @escaping Completion) -> TransportCancel {
        do throws(CKError) {
            return switch transfer.direction {
            case .upload: try upload(timeouts, completion)
            case .download: try download(timeouts, completion)
            }
        } catch {
            completion(.failure(error))
            return {}
        }
    }

    private func upload(_ timeouts: RequestTimeouts, _ completion: @escaping Completion) throws(CKError)
        -> TransportCancel
    {
        let reader = try AssetFileReader(transfer.fileURL, meter: meter)
        let request = FileRequest(
            url: transfer.url, headers: [("Content-Type", "application/octet-stream")], source: reader)
        let path = transfer.fileURL.path
        return transport.carry(request, timeouts: timeouts) { result in
            guard reader.isUnchanged else {
                return completion(
                    .failure(
                        CKError(.assetFileModified, "The asset's file \(path) changed during the upload.")))
            }
            completion(result)
        }
    }

    private func download(
        _ timeouts: RequestTimeouts, _ completion: @escaping Completion
    ) throws(CKError) -> TransportCancel {
        guard let cache else { throw CKError(.assetNotAvailable, "This connection fetches no files.") }
        if try cache.prepare(transfer.fileURL, bytes: transfer.bytes) {
            completion(.success(WireResponse(status: 200)))
            return {}
        }
        let writer = try AssetFileWriter(transfer.fileURL, bytes: transfer.bytes, meter: meter)
        var request = FileRequest(
            url: transfer.url.replacingOccurrences(of: "${f}", with: "file"), sink: writer)
        if writer.offset > 0 { request.headers.append(("Range", "bytes=\(writer.offset)-")) }
        return transport.carry(request, timeouts: timeouts) { result in
            self.aside {
                let end = Result { () throws(CKError) in try self.end(result, writer, cache) }
                // The completion may begin the next attempt, while the transport still holds the writer.
                writer.end()
                completion(end)
            }
        }
    }

    /// Runs `body`, which reads and hashes a whole file, on another thread, because all transfers share the transport's
    /// thread. 50 MB take 46 to 52 ms on a processor with SHA-256 instructions, 140 ms without.
    private func aside(_ body: @escaping @Sendable () -> Void) {
        switch execution {
        case .inline: body()
        case .threads: DispatchQueue.global().async(execute: body)
        }
    }

    private func end(
        _ result: Result<WireResponse, CKError>, _ writer: AssetFileWriter, _ cache: AssetCache
    ) throws(CKError) -> WireResponse {
        if writer.isTooLong { try writer.finish(checksum: nil) }
        if writer.isAnotherPart { throw .anotherPart }
        let response = try result.get()
        switch response.status {
        case 206: break
        case 200 where writer.offset == 0: break
        // The existing bytes are no beginning of the file. The next attempt starts again.
        case 200, 416:
            writer.rewind()
            throw .anotherPart
        default: return response
        }
        try writer.finish(checksum: transfer.checksum)
        cache.trim(after: writer.byteCount)
        return response
    }
}
