package import CloudWire

/// Takes a request back; nothing happens when it has been answered.
package typealias TransportCancel = @Sendable () -> Void

/// How long one attempt of a request may take.
package struct RequestTimeouts: Sendable {
    /// Seconds in which nothing comes and nothing goes.
    package var silenceSeconds: Double
    /// Seconds for the whole; 0 sets no end.
    package var wholeSeconds: Double

    /// Seconds for the whole of a transport that can't tell silence from work.
    package var timeoutSeconds: Double {
        wholeSeconds > 0 ? min(silenceSeconds, wholeSeconds) : silenceSeconds
    }
}

/// Carries one request to the cloud and its answer back. It never repeats a request: that is for the caller, who knows
/// what the request asks.
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

    /// The same for a transport that can tell silence from work; the others count the whole.
    func send(
        _ request: WireRequest, limits: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel

    /// Carries a file, and calls `completion` as `send` does. The answer to a fetch has no body: the sink has it.
    func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel

    /// The same for a transport that can tell silence from work.
    func carry(
        _ file: FileRequest, limits: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel
}

extension Transport {
    package var endsInTime: Bool { false }
    package var basePath: String { "" }

    package func send(
        _ request: WireRequest, limits: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        send(request, timeoutSeconds: limits.timeoutSeconds, completion: completion)
    }

    package func carry(
        _ file: FileRequest, limits: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        carry(file, timeoutSeconds: limits.timeoutSeconds, completion: completion)
    }

    package func carry(
        _ file: FileRequest, timeoutSeconds: Double,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        completion(.failure(CKError(.assetNotAvailable, "This transport carries no files.")))
        return {}
    }
}
