/// The reason that a request has no response.
public struct HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Kinds of errors.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The request is invalid: a bad address, method or header.
        case invalidRequest
        /// The server's name has no address.
        case couldNotResolve
        /// The connection failed or timed out. No request was sent.
        case couldNotConnect
        /// The TLS handshake failed. No request was sent.
        case tlsRefused
        /// The server's certificate isn't signed by a trusted authority. No request was sent.
        case untrustedCertificate
        /// The server's certificate is for another name. No request was sent.
        case certificateOfOtherName
        /// The server's certificate has expired, or isn't valid yet by the local clock. No request was sent.
        case certificateOfOtherTime
        /// The file with the trusted certificates can't be read. No request was sent.
        case noAuthorities
        /// The address begins with `https://`, but the server doesn't speak TLS. No request was sent.
        case notTLS
        /// The address begins with `http://`, but the server's port requires TLS. The request wasn't executed.
        case needsTLS
        /// The deadline passed before the response arrived.
        case timedOut
        /// The connection ended before a response began. The server may have executed the request.
        case noAnswer
        /// The connection ended within the response. The server has executed or rejected the request.
        case cutShort
        /// The response isn't HTTP.
        case invalidResponse
        /// The response has more bytes than the request allows.
        case responseTooLarge
        /// It was cancelled.
        case cancelled
        /// The queue of the client is full.
        case tooManyWaiting
        /// The client was stopped.
        case stopped
        /// The request's own `upload` or `download` failed.
        case bodyFailed
        /// An error of the client's machine: memory, files.
        case internalError
    }

    /// Kind of the error.
    public let code: Code
    /// Description, with the cause if known.
    public let message: String

    /// Creates an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// True if the server can't have received the request, so that sending it again can't execute it twice.
    public var serverSawNothing: Bool {
        switch code {
        case .invalidRequest, .couldNotResolve, .couldNotConnect, .tlsRefused, .untrustedCertificate,
            .certificateOfOtherName, .certificateOfOtherTime, .noAuthorities, .notTLS, .needsTLS,
            .tooManyWaiting:
            true
        case .timedOut, .noAnswer, .cutShort, .invalidResponse, .responseTooLarge, .cancelled, .stopped,
            .bodyFailed, .internalError:
            false
        }
    }

    /// The message.
    public var description: String { message }
}
