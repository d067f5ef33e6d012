import CloudKit
import CloudWire
import Foundation
import System

/// A server that has one record with a file, and cuts the first answer that carries it.
final class CuttingTransport: Transport {
    private let bytes: Data
    private let cutAt: Lock<Int?>
    /// How many answers carry other bytes than the record's.
    let damages = Lock(0)
    /// What was asked for of the file, in order.
    let ranges = Collected<String>()

    init(bytes: Data, cutAt: Int?) {
        self.bytes = bytes
        self.cutAt = Lock(cutAt)
    }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let json = HeldDownloads.record(of: [UInt8](bytes), url: "http://files.test/${f}")
        completion(.success(WireResponse(status: 200, body: Array(json.utf8))))
        return {}
    }

    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let range = file.headers.first { $0.name == "Range" }?.value
        ranges.append(range ?? "")
        let offset = range.flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        let cut = cutAt.withLock { cutAt in
            defer { cutAt = nil }
            return cutAt
        }
        var sent = [UInt8](bytes[offset..<(cut ?? bytes.count)])
        let isDamaged = damages.withLock { damages in
            defer { damages = max(0, damages - 1) }
            return damages > 0
        }
        if isDamaged { sent[0] ^= 1 }
        let written: Void? = try? sent.withUnsafeBytes {
            try file.sink?.begin(
                status: offset == 0 ? 200 : 206,
                contentRange: "bytes \(offset)-\(bytes.count - 1)/\(bytes.count)")
            try file.sink?.write($0)
        }
        if cut != nil || written == nil {
            completion(.failure(CKError(.networkFailure, "cut")))
        } else {
            completion(.success(WireResponse(status: offset == 0 ? 200 : 206)))
        }
        return {}
    }
}
