internal import CloudWire
import Foundation
internal import System

/// Fetches a token for a page in the user's browser, which acts for the user.
///
/// Here it is the token of the user's session on this device. The service makes no second one for a page.
open class CKFetchWebAuthTokenOperation: CKDatabaseOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The API token of the page's app.
    public var apiToken: String?

    /// Called last, with the token.
    @preconcurrency public var fetchWebAuthTokenResultBlock: (@Sendable (Result<String, any Error>) -> Void)?
    /// The older form of `fetchWebAuthTokenResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "fetchWebAuthTokenResultBlock")
    @preconcurrency public var fetchWebAuthTokenCompletionBlock: (@Sendable (String?, (any Error)?) -> Void)?
    {
        get { olderFetchWebAuthTokenCompletionBlock }
        set { olderFetchWebAuthTokenCompletionBlock = newValue }
    }
    var olderFetchWebAuthTokenCompletionBlock: (@Sendable (String?, (any Error)?) -> Void)?

    /// Makes an operation without an API token, which fails.
    public override init() {
        super.init()
    }

    /// Makes an operation for the page's `apiToken`.
    public convenience init(apiToken: String) {
        self.init()
        self.apiToken = apiToken
    }

    override func execute() {
        let result = Result { () throws(CKError) in try self.token() }
        if let block = fetchWebAuthTokenResultBlock {
            block(result.mapError { $0 })
        } else {
            olderFetchWebAuthTokenCompletionBlock?(result.value, result.error)
        }
        finish()
    }

    private func token() throws(CKError) -> String {
        if isCancelled { throw .cancelled }
        guard let apiToken, !apiToken.isEmpty else {
            throw CKError(
                .invalidArguments, "A web auth token is for the app of an API token; none was given.")
        }
        guard let token = try target.core.resolved().connection.account.credential().webAuthToken else {
            throw CKError(.notAuthenticated, "No user is signed in.")
        }
        return token
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            fetchWebAuthTokenResultBlock.take(), olderFetchWebAuthTokenCompletionBlock.take()
        )
    }
}
