import Synchronization

/// One request to respond to. It may be stored, and used from any thread.
///
/// - The first response counts. Later ones are ignored, and their `written` is called with false.
/// - If the last reference is released without a response, the server answers with 500.
/// - If there is no response in time, the server answers with 503 and ignores a later response: see `onGiveUp`.
public final class HTTPExchange: Sendable {
    /// The request ID in the response's header.
    public let requestID: String
    private let mailbox: EventLoopMailbox
    private let key: ExchangeKey
    private let isAnswered = Atomic(false)

    init(requestID: String, mailbox: EventLoopMailbox, key: ExchangeKey) {
        self.requestID = requestID
        self.mailbox = mailbox
        self.key = key
    }

    deinit {
        if !isAnswered.load(ordering: .relaxed) { mailbox.post(.abandoned(key)) }
    }

    /// Sends the response.
    ///
    /// May be called at any time, also after the client has disconnected or the server has stopped.
    ///
    /// - Parameters:
    ///   - context: a value for the summary that `HTTPHandler.finished` receives.
    ///   - written: called once, on an event loop or (after the server has stopped) on the caller's thread: with true
    ///     if the kernel accepted all bytes while the client was connected, and otherwise with false.
    public func respond(
        _ response: HTTPResponse, context: (any Sendable)? = nil, written: (@Sendable (Bool) -> Void)? = nil
    ) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else {
            written?(false)
            return
        }
        mailbox.post(.answer(key, PendingResponse(response: response, context: context, written: written)))
    }

    /// Calls `body` when the connection is closed before the response was sent, or at once if it is closed already. It
    /// is called on an event loop, or (after the server has stopped) on the caller's thread.
    public func onDisconnect(_ body: @escaping @Sendable () -> Void) {
        mailbox.post(.onDisconnect(key, body))
    }

    /// Calls `giveUp` if there is no response in time, or the connection is closed.
    ///
    /// It must return true if the work has not begun and never will: then the server answers with 503, and the client
    /// may retry. With false the server waits for the same time once more, and then answers with 500, because the
    /// request may have been executed.
    public func onGiveUp(_ giveUp: @escaping @Sendable () -> Bool) {
        mailbox.post(.onGiveUp(key, giveUp))
    }
}

/// Resumes a paused sink, or ends its request. May be used from any thread.
public struct HTTPBodyFlow: Sendable {
    let mailbox: EventLoopMailbox
    let key: ExchangeKey

    /// Reads more from the client.
    public func resume() { mailbox.post(.resume(key)) }

    /// Sends a response without reading the rest of the body, and closes the connection after it.
    public func refuse(_ response: HTTPResponse) { mailbox.post(.refuse(key, response)) }
}

/// A request of the server for the next piece of a body. Answer it exactly once, from any thread.
public struct HTTPBodyPull: Sendable {
    let mailbox: EventLoopMailbox
    let key: ExchangeKey
    let number: UInt32

    /// Sends the next bytes, at least one.
    public func send(_ bytes: [UInt8]) { mailbox.post(.piece(key, number, bytes, isLast: false)) }

    /// Sends the last bytes, which may be empty.
    public func end(_ bytes: [UInt8] = []) { mailbox.post(.piece(key, number, bytes, isLast: true)) }

    /// Closes the connection, so that the client detects the incomplete body.
    public func fail() { mailbox.post(.pieceFailed(key, number)) }
}

/// Key of one request of one connection, which detects late messages.
struct ExchangeKey: Sendable, Equatable {
    /// The connection's descriptor, which the kernel reuses.
    var descriptor: Int32
    /// Distinguishes the connections that have had the same descriptor.
    var generation: UInt32
    /// Number of the request on its connection.
    var request: UInt32
}

/// The response of a handler, with the callbacks for its end.
struct PendingResponse: Sendable {
    var response: HTTPResponse
    var context: (any Sendable)?
    var written: (@Sendable (Bool) -> Void)?
}

/// A message of another thread to an event loop.
enum EventLoopMessage: Sendable {
    case answer(ExchangeKey, PendingResponse)
    case onDisconnect(ExchangeKey, @Sendable () -> Void)
    case onGiveUp(ExchangeKey, @Sendable () -> Bool)
    case abandoned(ExchangeKey)
    case resume(ExchangeKey)
    case refuse(ExchangeKey, HTTPResponse)
    case piece(ExchangeKey, UInt32, [UInt8], isLast: Bool)
    case pieceFailed(ExchangeKey, UInt32)
    case stop(graceMilliseconds: Int)
}
