package import CloudWire
package import HTTPClient

/// Carries requests over HTTP.
package final class HTTPTransport: Transport {
    /// Bytes that an answer may have: many times a page of changes.
    static let responseBytesMax = 256 << 20
    /// Seconds until the connection stands.
    static let connectTimeoutSeconds = 15.0
    /// Seconds that an app is told to wait when it has more requests open than the client keeps.
    static let tooManySeconds = 2.0

    /// The server's address without a slash at its end.
    package let serverURL: String
    private let client: HTTPClient

    package var endsInTime: Bool { true }

    /// Makes a transport to the server at `serverURL`.
    package init(serverURL: String, client: HTTPClient) {
        self.serverURL = serverURL
        self.client = client
    }

    package func send(
        _ request: WireRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let transfer = client.send(
            HTTPClientRequest(
                method: request.method, url: serverURL + request.target, headers: request.headers,
                body: request.body, connectTimeoutSeconds: min(timeoutSeconds, Self.connectTimeoutSeconds),
                timeoutSeconds: timeoutSeconds, responseBytesMax: Self.responseBytesMax)
        ) { result in
            completion(
                result.map { WireResponse(status: $0.status, headers: $0.headers, body: $0.body) }
                    .mapError { CKError($0) })
        }
        return { transfer.cancel() }
    }

    package func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        var request = HTTPClientRequest(
            method: file.source == nil ? "GET" : "POST", url: file.url, headers: file.headers,
            connectTimeoutSeconds: min(timeoutSeconds, Self.connectTimeoutSeconds),
            timeoutSeconds: timeoutSeconds, responseBytesMax: file.sink == nil ? 1 << 20 : .max)
        request.upload = file.source.map { UploadedFile(source: $0) }
        request.download = file.sink.map { DownloadedFile(sink: $0) }
        let transfer = client.send(request) { result in
            completion(
                result.map { WireResponse(status: $0.status, headers: $0.headers, body: $0.body) }
                    .mapError { CKError($0) })
        }
        return { transfer.cancel() }
    }
}

private struct UploadedFile: HTTPUpload {
    let source: any FileSource
    var byteCount: Int { Int(source.byteCount) }
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int { try source.read(into: buffer) }
}

private struct DownloadedFile: HTTPDownload {
    let sink: any FileSink
    func write(_ bytes: UnsafeRawBufferPointer) throws { try sink.write(bytes) }
}

extension WireRequest {
    /// Path and query, percent-encoded once.
    var target: String {
        var target: [UInt8] = []
        target.reserveCapacity(path.utf8.count + 128)
        target.appendEncoded(path, keepsSlashes: true)
        for (index, item) in query.enumerated() {
            target.append(UInt8(ascii: index == 0 ? "?" : "&"))
            target.appendEncoded(item.name, keepsSlashes: false)
            target.append(UInt8(ascii: "="))
            target.appendEncoded(item.value, keepsSlashes: false)
        }
        return String(decoding: target, as: UTF8.self)
    }
}

extension [UInt8] {
    /// Appends `text` with every byte encoded but the unreserved ones of RFC 3986: so a plus stays a plus, and a
    /// token's equals sign isn't taken for an item's.
    fileprivate mutating func appendEncoded(_ text: String, keepsSlashes: Bool) {
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                append(byte)
            case UInt8(ascii: "/") where keepsSlashes: append(byte)
            default:
                append(UInt8(ascii: "%"))
                append(digits[Int(byte >> 4)])
                append(digits[Int(byte & 0xF)])
            }
        }
    }
}

extension CKError {
    /// What the network did, in Apple's codes.
    package init(_ error: HTTPClientError) {
        switch error.code {
        case .couldNotResolve, .couldNotConnect:
            self.init(.networkUnavailable, "The server can't be reached: \(error.message)")
        case .tlsRefused:
            self.init(.networkFailure, "The server's certificate or TLS isn't good: \(error.message)")
        case .timedOut: self.init(.networkFailure, "No answer came in time: \(error.message)")
        case .noAnswer: self.init(.networkFailure, "The connection ended without an answer: \(error.message)")
        case .invalidResponse:
            self.init(.networkFailure, "What answers isn't an HTTP server: \(error.message)")
        case .cutShort, .responseTooLarge:
            // An answer began: the server has done what it was asked.
            self.init(.serverResponseLost, "The answer is lost: \(error.message)")
        case .cancelled: self = .cancelled
        case .stopped: self.init(.operationCancelled, error.message)
        case .tooManyWaiting:
            self.init(
                .requestRateLimited, error.message, retryAfterSeconds: HTTPTransport.tooManySeconds)
        case .invalidRequest: self.init(.invalidArguments, error.message)
        case .bodyFailed, .internalError: self.init(.internalError, error.message)
        }
    }
}
