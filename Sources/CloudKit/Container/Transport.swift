package import CloudWire

/// Takes a request back; nothing happens when it has been answered.
package typealias TransportCancel = @Sendable () -> Void

/// Carries one request to the cloud and its answer back. It never repeats a request: that is for who knows what
/// the request asks.
package protocol Transport: Sendable {
    /// Whether every request ends by itself when its seconds are over; else the framework sets a timer.
    var endsInTime: Bool { get }

    /// The path that stands before each request's own, as it goes out; empty for most.
    var basePath: String { get }

    /// Sends `request` and calls `completion` once, on any thread: with the answer, whatever its status, or
    /// with the `CKError` that says what the network did.
    /// - Parameter timeoutSeconds: for the whole request.
    /// - Returns: what gives the request up; then `completion` may be called with anything, or never.
    func send(
        _ request: WireRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel

    /// Carries a file, and calls `completion` as `send` does. The answer to a fetch has no body: the sink has it.
    func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel
}

extension Transport {
    package var endsInTime: Bool { false }
    package var basePath: String { "" }

    package func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        completion(.failure(CKError(.assetNotAvailable, "This transport carries no files.")))
        return {}
    }
}
