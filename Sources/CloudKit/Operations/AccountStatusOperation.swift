/// Determines the account status, for `CKContainer`.
final class AccountStatusOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable as a CKOperation is: it only adds a constant, which is Sendable.

    private let resultBlock: @Sendable (Result<CKAccountStatus, any Error>) -> Void

    init(resultBlock: @escaping @Sendable (Result<CKAccountStatus, any Error>) -> Void) {
        self.resultBlock = resultBlock
        super.init()
        ownConfiguration.timeoutIntervalForRequest = Self.timeoutSeconds
    }

    /// Seconds after which a server without a response counts as having no objection to the account.
    private static let timeoutSeconds = 10.0

    override func execute() {
        do throws(CKError) {
            guard let status = try target.core.resolved().connection.account.localStatus() else {
                return askServer()
            }
            resultBlock(.success(status))
        } catch {
            resultBlock(.failure(error))
        }
        finish()
    }

    private func askServer() {
        run {
            CurrentUserExchange(address: $0)
        } event: { _ in
        } completion: { result in
            self.resultBlock(result.status.mapError { $0 })
        }
    }
}

extension Result where Success == CKRecordID, Failure == CKError {
    /// The account status that follows from the response to a request for the user's record ID.
    fileprivate var status: Result<CKAccountStatus, CKError> {
        guard case .failure(let error) = self else { return .success(.available) }
        switch error.code {
        case .notAuthenticated: return .success(.noAccount)
        case .managedAccountRestricted: return .success(.restricted)
        case .accountTemporarilyUnavailable: return .success(.temporarilyUnavailable)
        case .operationCancelled, .badContainer: return .failure(error)
        default: return .success(.available)
        }
    }
}
