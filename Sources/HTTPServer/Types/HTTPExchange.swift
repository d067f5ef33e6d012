import Synchronization

/// The way to answer one request. It may be kept, and answered from any thread.
///
/// - The first answer counts; later ones are ignored, and their `written` is called with false.
/// - When the last reference goes without a response, the server answers 500 for it.
/// - When there is no response in time, the server answers 503, and a later one is ignored: see `onGiveUp`.
public final class HTTPExchange: Sendable {
    /// The id that the reply's header carries.
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

    /// Answers the request.
    ///
    /// May be called at any time, also when the client has left or the server has stopped.
    ///
    /// - Parameters:
    ///   - context: anything that `HTTPHandler.finished` shall find in the summary of this exchange.
    ///   - written: called once, on a loop or (when the server has stopped) on the caller's thread: with true when the
    ///     kernel took all bytes and the client had not left, else with false.
    public func respond(
        _ response: HTTPResponse, context: (any Sendable)? = nil, written: (@Sendable (Bool) -> Void)? = nil
    ) {
        guard !isAnswered.exchange(true, ordering: .relaxed) else {
            written?(false)
            return
        }
        mailbox.post(.answer(key, PendingResponse(response: response, context: context, written: written)))
    }

    /// Calls `body` when the client closes the connection, or is cut, before the response is out; at once when that has
    /// happened. It is called on a loop, or (when the server has stopped) on the caller's thread.
    public func onDisconnect(_ body: @escaping @Sendable () -> Void) {
        mailbox.post(.onDisconnect(key, body))
    }

    /// Calls `giveUp` when there is no response in time, or the connection is cut.
    ///
    /// It returns true when the work has not begun and never will: then the server answers 503, and the client may ask
    /// again. With false the server waits once more as long, and then answers 500, because what was asked may have been
    /// done.
    public func onGiveUp(_ giveUp: @escaping @Sendable () -> Bool) {
        mailbox.post(.onGiveUp(key, giveUp))
    }
}

/// Lets a sink that paused go on, or end the request. May be used from any thread.
public struct HTTPBodyFlow: Sendable {
    let mailbox: EventLoopMailbox
    let key: ExchangeKey

    /// Reads on from the client.
    public func resume() { mailbox.post(.resume(key)) }

    /// Answers at once, without reading the rest of the body; the connection is closed after it.
    public func refuse(_ response: HTTPResponse) { mailbox.post(.refuse(key, response)) }
}

/// The server's question for the next piece of a body. Answer it exactly once, from any thread.
public struct HTTPBodyPull: Sendable {
    let mailbox: EventLoopMailbox
    let key: ExchangeKey
    let number: UInt32

    /// Gives the next bytes, at least one.
    public func send(_ bytes: [UInt8]) { mailbox.post(.piece(key, number, bytes, isLast: false)) }

    /// Gives the last bytes, which may be none.
    public func end(_ bytes: [UInt8] = []) { mailbox.post(.piece(key, number, bytes, isLast: true)) }

    /// Cuts the connection, so that the client sees that the body is not whole.
    public func fail() { mailbox.post(.pieceFailed(key, number)) }
}

/// Names one request of one connection of a loop, so that what comes late is recognised.
struct ExchangeKey: Sendable, Equatable {
    /// The connection's descriptor, which the kernel gives again.
    var descriptor: Int32
    /// Tells the connections of one descriptor apart.
    var generation: UInt32
    /// Counts the requests of the connection.
    var request: UInt32
}

/// The response of a handler, with what happens once it is written.
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
