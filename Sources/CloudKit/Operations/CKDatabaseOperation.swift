internal import CloudWire
import Foundation

/// An operation on one database.
open class CKDatabaseOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The database; nil means the container's private one. Adding the operation to a database sets it.
    public var database: CKDatabase?

    override var target: CKDatabase { database ?? super.target }

    /// Walks `exchange` from its first request to its end.
    /// - Parameters:
    ///   - exchange: gets the database's address, which is known only now.
    ///   - event: called for each event, in order.
    ///   - completion: called once, after the last event; the operation ends when it returns.
    final func run<E: Exchange>(
        _ exchange: (RequestAddress) -> E, event: @escaping @Sendable (E.Event) -> Void,
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        let target = target
        let end: @Sendable (Result<E.Output, CKError>) -> Void = { result in
            completion(result)
            self.finish()
        }
        guard let connection = target.core.connection, let identifier = target.core.identifier else {
            return end(.failure(.noConnection(containerIdentifier: target.core.identifier)))
        }
        let address = RequestAddress(
            containerIdentifier: identifier, environment: connection.environment,
            scope: target.databaseScope.wire, webAuthToken: connection.webAuthToken)
        let runner = ExchangeRunner(
            exchange(address), transport: connection.transport, isCancelled: { self.isCancelled },
            deliver: { self.deliver($0) }, event: event, completion: end)
        onCancel { runner.cancel() }
        runner.advance()
    }
}

extension CKError {
    fileprivate static func noConnection(containerIdentifier: String?) -> CKError {
        let name = containerIdentifier.map { "The container \($0)" } ?? "The default container"
        return CKError(
            .badContainer,
            """
            \(name) has no cloud behind it. In tests take the container from TestCloud().device(user:) of the \
            module CloudKitTesting; a connection to a server over HTTP isn't there yet.
            """)
    }
}
