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
        /// The server's certificate isn't good, or TLS couldn't be agreed on: the server has seen nothing.
        case tlsRefused
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
        case .invalidRequest, .couldNotResolve, .couldNotConnect, .tlsRefused, .tooManyWaiting: true
        case .timedOut, .noAnswer, .cutShort, .invalidResponse, .responseTooLarge, .cancelled, .stopped,
            .bodyFailed,
            .internalError:
            false
        }
    }

    /// The message.
    public var description: String { message }
}
