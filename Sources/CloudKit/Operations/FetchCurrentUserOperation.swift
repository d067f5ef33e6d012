/// Asks who the user is, for `CKContainer`.
final class FetchCurrentUserOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    private let resultBlock: @Sendable (Result<CKRecord.ID, any Error>) -> Void

    init(resultBlock: @escaping @Sendable (Result<CKRecord.ID, any Error>) -> Void) {
        self.resultBlock = resultBlock
        super.init()
    }

    override func execute() {
        run {
            CurrentUserExchange(address: $0)
        } event: { _ in
        } completion: { result in
            self.resultBlock(result.mapError { $0 })
        }
    }
}
