internal import CloudWire

/// An operation without I/O: it returns the next request, and turns each response into events.
protocol OperationExchange: Sendable {
    /// Events before the end of the exchange.
    associatedtype Event: Sendable
    /// The result of the whole operation.
    associatedtype Output: Sendable

    /// Returns the next request, or the result.
    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Output>

    /// Handles the response to the last request of `nextStep()`.
    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event]
}

/// The next step of an exchange.
enum ExchangeStep<Event: Sendable, Output: Sendable>: Sendable {
    case send(WireRequest)
    case transfer(FileTransfer)
    /// Reports events that need no request.
    case report([Event])
    case finished(Output)
}
