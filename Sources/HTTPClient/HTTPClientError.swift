/// Why a request has no answer.
public struct HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What happened.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The request itself can't be sent: a bad address, method or header.
        case invalidRequest
        /// The server's name has no address.
        case couldNotResolve
        /// No connection came about, also not in time: the server has seen nothing.
        case couldNotConnect
        /// TLS couldn't be agreed on: the server has seen nothing.
        case tlsRefused
        /// The server's certificate is from nobody who is trusted: the server has seen nothing.
        case untrustedCertificate
        /// The server's certificate is for another name: the server has seen nothing.
        case certificateOfOtherName
        /// The server's certificate ran out, or isn't valid yet by the clock here: the server has seen nothing.
        case certificateOfOtherTime
        /// The file with the certificates to trust can't be read: the server has seen nothing.
        case noAuthorities
        /// The address begins with `https://`, and what answers is no TLS: the server has seen nothing.
        case notTLS
        /// The address begins with `http://`, and the server says that the port speaks TLS. It did nothing.
        case needsTLS
        /// The time was over before the answer was there.
        case timedOut
        /// The connection ended before an answer began; the server may have done what was asked.
        case noAnswer
        /// The connection ended within the answer: the server has done what was asked, or refused it.
        case cutShort
        /// The answer isn't HTTP.
        case invalidResponse
        /// The answer has more bytes than the request allows.
        case responseTooLarge
        /// It was cancelled.
        case cancelled
        /// More requests wait than the client keeps.
        case tooManyWaiting
        /// The client was stopped.
        case stopped
        /// The request's own `upload` or `download` failed.
        case bodyFailed
        /// Something in the client's machine: memory, files.
        case internalError
    }

    /// What happened.
    public let code: Code
    /// The same in words, with what is known of the cause.
    public let message: String

    /// Makes an error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the server can't have seen the request: sending it again does nothing twice.
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
