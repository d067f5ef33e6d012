internal import CloudWire

/// An operation without I/O: it says which request is next, and turns each answer into events.
protocol OperationExchange: Sendable {
    /// What is reported on the way.
    associatedtype Event: Sendable
    /// What the whole ends with.
    associatedtype Output: Sendable

    /// The next request, or the end.
    mutating func nextStep() throws(CKError) -> ExchangeStep<Event, Output>

    /// Takes the answer to the request that `nextStep()` gave last.
    mutating func receive(_ reply: Result<WireResponse, CKError>) -> [Event]
}

/// What an exchange wants next.
enum ExchangeStep<Event: Sendable, Output: Sendable>: Sendable {
    case send(WireRequest)
    case transfer(FileTransfer)
    /// Something is known without asking the server.
    case report([Event])
    case finished(Output)
}
