public import Foundation

/// Asks the owners of shares to be let in. Ends with an error: there is no sharing yet.
/// - Note: Coming: with sharing; it ends with `CKError.serverRejectedRequest`.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The addresses of the shares.
    public var shareURLs: [URL]?
    /// Called for each address.
    @preconcurrency public var perShareAccessRequestResultBlock:
        (@Sendable (URL, Result<Void, any Error>) -> Void)?
    /// Called last.
    @preconcurrency public var shareAccessRequestResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?

    /// Makes an operation that asks nobody yet.
    public override init() {
        super.init()
    }

    /// Makes an operation that asks the owners of the shares at these addresses.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func execute() {
        endWithoutSharing { shareAccessRequestResultBlock?(.failure($0)) }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perShareAccessRequestResultBlock.take(), shareAccessRequestResultBlock.take()
        )
    }
}
