import CloudKit
import CloudWire
import Crypto
import Foundation
import System

/// A server with one record that has one file. Who fetches the file gets its bytes when the test says so.
final class HeldDownloads: Transport {
    typealias Download = (
        sink: any DownloadSink, range: String?, end: @Sendable (Result<WireResponse, CKError>) -> Void
    )

    let bytes: [UInt8]
    private let waiting = Lock<[Download]>([])

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The downloads that began, in order.
    var downloads: [Download] { waiting.withLock { $0 } }

    /// Lets go of the downloads, as a transport does of what has ended.
    func forget() { waiting.withLock { $0 = [] } }

    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let json = Self.record(of: bytes, url: "http://files.test/f")
        completion(.success(WireResponse(status: 200, body: Array(json.utf8))))
        return {}
    }

    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let range = file.headers.first { $0.name == "Range" }?.value
        if let sink = file.sink { waiting.withLock { $0.append((sink, range, completion)) } }
        return {}
    }

    /// An answer with the record `1`, whose file is at `url`.
    static func record(of bytes: [UInt8], url: String) -> String {
        let checksum = Data([1] + ((try? SHA256.hash(bytes)) ?? []).prefix(20)).base64EncodedString()
        return """
            {"records": [{"recordName": "1", "recordType": "todo", "recordChangeTag": "a", "fields": {"photo":
            {"type": "ASSETID", "value": {"fileChecksum": "\(checksum)", "size": \(bytes.count),
            "downloadURL": "\(url)"}}}}]}
            """
    }
}

extension DownloadSink {
    /// The bytes come.
    func take(_ bytes: some Sequence<UInt8>) throws { try Array(bytes).withUnsafeBytes { try write($0) } }
}
