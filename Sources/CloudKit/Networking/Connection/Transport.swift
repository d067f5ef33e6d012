package import CloudWire

/// Cancels a request. Does nothing if the request has completed.
package typealias TransportCancel = @Sendable () -> Void

/// Maximum times of one attempt of a request.
package struct RequestTimeouts: Sendable {
    /// Maximum seconds without any byte sent or received.
    package var idleSeconds: Double
    /// Maximum seconds for the whole attempt; 0 for no limit.
    package var totalSeconds: Double

    /// Limits of `seconds` for the whole attempt.
    package static func total(_ seconds: Double) -> RequestTimeouts {
        RequestTimeouts(idleSeconds: seconds, totalSeconds: seconds)
    }

    /// Maximum seconds for the whole attempt, for a transport that doesn't know how long it was idle.
    package var shortestSeconds: Double {
        totalSeconds > 0 ? min(idleSeconds, totalSeconds) : idleSeconds
    }
}

/// Sends one request to the cloud and returns its response. A transport never retries: the caller decides that.
package protocol Transport: Sendable {
    /// True if the transport enforces the timeouts. If false, the framework sets a timer.
    var enforcesTimeouts: Bool { get }

    /// The path of the server's URL, which precedes the path of each request. Empty for most servers.
    var basePath: String { get }

    /// Sends a request.
    /// - Parameters:
    ///   - timeouts: how long the request may take. A transport without idle timeouts uses `shortestSeconds`.
    ///   - completion: called once, on any thread, with the response of any status, or with the network error.
    /// - Returns: a closure that cancels the request. After it was called, `completion` may get any result, or none.
    func send(
        _ request: WireRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel

    /// Uploads or downloads a file. The response to a download has no body: the request's sink has received it.
    ///
    /// The parameters and the result are those of `send`.
    func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel
}

extension Transport {
    package var enforcesTimeouts: Bool { false }
    package var basePath: String { "" }

    package func carry(
        _ file: FileRequest, timeouts: RequestTimeouts,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        completion(.failure(CKError(.assetNotAvailable, "This transport carries no files.")))
        return {}
    }
}
