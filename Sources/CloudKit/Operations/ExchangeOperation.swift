/// Runs an exchange for a method that has no operation class of its own.
final class ExchangeOperation<E: OperationExchange>: CKOperation, @unchecked Sendable {
    // Sendable as a CKOperation is: it only adds two constants, which are Sendable.

    private let exchange: @Sendable (RequestAddress) -> E
    private let resultBlock: @Sendable (Result<E.Output, any Error>) -> Void

    init(
        resultBlock: @escaping @Sendable (Result<E.Output, any Error>) -> Void,
        exchange: @escaping @Sendable (RequestAddress) -> E
    ) {
        self.exchange = exchange
        self.resultBlock = resultBlock
        super.init()
    }

    override func execute() {
        run(exchange) { _ in
        } completion: { result in
            self.resultBlock(result.mapError { $0 })
        }
    }
}
