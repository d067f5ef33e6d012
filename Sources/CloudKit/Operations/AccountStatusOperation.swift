/// Finds out whether the user is signed in, for `CKContainer`.
final class AccountStatusOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable as a CKOperation is: all that it adds is one constant, which is Sendable.

    private let resultBlock: @Sendable (Result<CKAccountStatus, any Error>) -> Void

    init(resultBlock: @escaping @Sendable (Result<CKAccountStatus, any Error>) -> Void) {
        self.resultBlock = resultBlock
        super.init()
        ownConfiguration.timeoutIntervalForRequest = Self.timeoutSeconds
    }

    /// Seconds after which a server that doesn't answer has said nothing against the account.
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
    /// What the answer to the question who the user is says about the account.
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
