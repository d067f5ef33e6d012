public import Foundation

/// Requests access to shares from their owners. Ends with an error: sharing isn't available yet.
/// - Note: Coming: with sharing; it ends with `CKError.serverRejectedRequest`.
open class CKShareRequestAccessOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The URLs of the shares.
    public var shareURLs: [URL]?
    /// Called for each URL.
    @preconcurrency public var perShareAccessRequestResultBlock:
        (@Sendable (URL, Result<Void, any Error>) -> Void)?
    /// Called last.
    @preconcurrency public var shareAccessRequestResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?

    /// Makes an operation without shares.
    public override init() {
        super.init()
    }

    /// Makes an operation that requests access to the shares at these URLs.
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
