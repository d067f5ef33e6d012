package import CloudWire
package import HTTPClient
internal import System

/// Sends requests over HTTP.
package final class HTTPTransport: Transport {
    /// Maximum bytes of a response: many times a page of changes.
    static let responseBytesMax = 256 << 20
    /// Maximum seconds to connect.
    static let connectTimeoutSeconds = 15.0

    /// The server's URL without a trailing slash.
    package let serverURL: String
    private let client: HTTPClient

    package var enforcesTimeouts: Bool { true }
    package let basePath: String

    /// Makes a transport to the server at `serverURL`.
    package init(serverURL: String, client: HTTPClient) {
        self.serverURL = serverURL
        basePath = String(serverURL.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
        self.client = client
    }

    package func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        var sent = HTTPClientRequest(
            method: request.method, url: serverURL + request.target, headers: request.headers,
            body: request.body)
        sent.responseBytesMax = Self.responseBytesMax
        return start(sent, timeouts, completion)
    }

    package func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        var request = HTTPClientRequest(
            method: file.source == nil ? "GET" : "POST", url: file.url, headers: file.headers,
            responseBytesMax: file.sink == nil ? 1 << 20 : .max)
        request.upload = file.source.map { UploadedFile(source: $0) }
        request.download = file.sink.map { DownloadedFile(sink: $0) }
        return start(request, timeouts, completion)
    }

    private func start(
        _ request: HTTPClientRequest, _ timeouts: RequestTimeouts,
        _ completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        var request = request
        request.connectTimeoutSeconds = min(timeouts.shortestSeconds, Self.connectTimeoutSeconds)
        request.timeoutSeconds = timeouts.totalSeconds
        request.silenceSeconds = timeouts.idleSeconds
        let transfer = client.send(request) { result in
            completion(
                result.map { WireResponse(status: $0.status, headers: $0.headers, body: $0.body) }
                    .mapError { CKError($0) })
        }
        return { transfer.cancel() }
    }
}

private struct UploadedFile: HTTPUpload {
    let source: any UploadSource
    var byteCount: Int { Int(source.byteCount) }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try source.read(into: buffer) }
}

private struct DownloadedFile: HTTPDownload {
    let sink: any DownloadSink
    func begin(status: Int, headers: [(name: String, value: String)]) throws {
        let range = headers.first { $0.name.lowercased() == "content-range" }?.value
        try sink.begin(status: status, contentRange: range)
    }
    func write(_ bytes: UnsafeRawBufferPointer) throws { try sink.write(bytes) }
}

extension WireRequest {
    /// Path and query, percent-encoded once.
    var target: String {
        // A plus stays a plus, and a token's equals sign isn't mistaken for an item's.
        let items = query.map { "\(PercentEncoding.encoded($0.name))=\(PercentEncoding.encoded($0.value))" }
        let path = PercentEncoding.encoded(path, keepsSlashes: true)
        return items.isEmpty ? path : "\(path)?\(items.joined(separator: "&"))"
    }
}
