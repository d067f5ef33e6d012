public import Foundation

// Their symbols are here so that code which has them compiles. Each ends with `CKError.serverRejectedRequest`: the
// service has no sharing yet.

/// Accepts shares. Ends with an error: sharing isn't available yet.
/// - Note: Coming: with sharing; it ends with `CKError.serverRejectedRequest`.
open class CKAcceptSharesOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The shares.
    public var shareMetadatas: [CKShare.Metadata]?
    /// Called for each share.
    @preconcurrency public var perShareResultBlock:
        (@Sendable (CKShare.Metadata, Result<CKShare, any Error>) -> Void)?
    /// Called last.
    @preconcurrency public var acceptSharesResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `perShareResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "perShareResultBlock")
    @preconcurrency public var perShareCompletionBlock:
        (@Sendable (CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    {
        get { olderPerShareCompletionBlock }
        set { olderPerShareCompletionBlock = newValue }
    }
    var olderPerShareCompletionBlock: (@Sendable (CKShare.Metadata, CKShare?, (any Error)?) -> Void)?
    /// The older form of `acceptSharesResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "acceptSharesResultBlock")
    @preconcurrency public var acceptSharesCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderAcceptSharesCompletionBlock }
        set { olderAcceptSharesCompletionBlock = newValue }
    }
    var olderAcceptSharesCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation that accepts these shares.
    public convenience init(shareMetadatas: [CKShare.Metadata]) {
        self.init()
        self.shareMetadatas = shareMetadatas
    }

    override func execute() {
        endWithoutSharing { error in
            if let acceptSharesResultBlock { return acceptSharesResultBlock(.failure(error)) }
            olderAcceptSharesCompletionBlock?(error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perShareResultBlock.take(), acceptSharesResultBlock.take(), olderPerShareCompletionBlock.take(),
            olderAcceptSharesCompletionBlock.take()
        )
    }
}

/// Fetches the metadata of shares by their URLs. Ends with an error: sharing isn't available yet.
/// - Note: Coming: with sharing; it ends with `CKError.serverRejectedRequest`.
open class CKFetchShareMetadataOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The addresses.
    public var shareURLs: [URL]?
    /// True to fetch the root records too.
    public var shouldFetchRootRecord = false
    /// The fields of the root records; nil for all.
    public var rootRecordDesiredKeys: [CKRecord.FieldKey]?
    /// Called for each URL.
    @preconcurrency public var perShareMetadataResultBlock:
        (@Sendable (URL, Result<CKShare.Metadata, any Error>) -> Void)?
    /// Called last.
    @preconcurrency public var fetchShareMetadataResultBlock: (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `perShareMetadataResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "perShareMetadataResultBlock")
    @preconcurrency public var perShareMetadataBlock:
        (@Sendable (URL, CKShare.Metadata?, (any Error)?) -> Void)?
    {
        get { olderPerShareMetadataBlock }
        set { olderPerShareMetadataBlock = newValue }
    }
    var olderPerShareMetadataBlock: (@Sendable (URL, CKShare.Metadata?, (any Error)?) -> Void)?
    /// The older form of `fetchShareMetadataResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "fetchShareMetadataResultBlock")
    @preconcurrency public var fetchShareMetadataCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderFetchShareMetadataCompletionBlock }
        set { olderFetchShareMetadataCompletionBlock = newValue }
    }
    var olderFetchShareMetadataCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an empty operation.
    public override init() {
        super.init()
    }

    /// Makes an operation for these URLs.
    public convenience init(shareURLs: [URL]) {
        self.init()
        self.shareURLs = shareURLs
    }

    override func execute() {
        endWithoutSharing { error in
            if let fetchShareMetadataResultBlock { return fetchShareMetadataResultBlock(.failure(error)) }
            olderFetchShareMetadataCompletionBlock?(error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perShareMetadataResultBlock.take(), fetchShareMetadataResultBlock.take(),
            olderPerShareMetadataBlock.take(), olderFetchShareMetadataCompletionBlock.take()
        )
    }
}

/// Looks up share participants. Ends with an error: sharing isn't available yet.
/// - Note: Coming: with sharing; it ends with `CKError.serverRejectedRequest`.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
    // Sendable for the reason given at CKOperation.

    /// The lookups.
    public var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?
    /// Called for each lookup.
    @preconcurrency public var perShareParticipantResultBlock:
        (@Sendable (CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
    /// Called last.
    @preconcurrency public var fetchShareParticipantsResultBlock:
        (@Sendable (Result<Void, any Error>) -> Void)?
    /// The older form of `perShareParticipantResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "perShareParticipantResultBlock")
    @preconcurrency public var shareParticipantFetchedBlock: (@Sendable (CKShare.Participant) -> Void)?
    {
        get { olderShareParticipantFetchedBlock }
        set { olderShareParticipantFetchedBlock = newValue }
    }
    var olderShareParticipantFetchedBlock: (@Sendable (CKShare.Participant) -> Void)?
    /// The older form of `fetchShareParticipantsResultBlock`; not called if that is set.
    @available(*, deprecated, renamed: "fetchShareParticipantsResultBlock")
    @preconcurrency public var fetchShareParticipantsCompletionBlock: (@Sendable ((any Error)?) -> Void)?
    {
        get { olderFetchShareParticipantsCompletionBlock }
        set { olderFetchShareParticipantsCompletionBlock = newValue }
    }
    var olderFetchShareParticipantsCompletionBlock: (@Sendable ((any Error)?) -> Void)?

    /// Makes an operation without lookups.
    public override init() {
        super.init()
    }

    /// Makes an operation for these lookups.
    public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
        self.init()
        self.userIdentityLookupInfos = userIdentityLookupInfos
    }

    override func execute() {
        endWithoutSharing { error in
            if let fetchShareParticipantsResultBlock {
                return fetchShareParticipantsResultBlock(.failure(error))
            }
            olderFetchShareParticipantsCompletionBlock?(error)
        }
    }

    override func letBlocksGo() {
        super.letBlocksGo()
        _ = (
            perShareParticipantResultBlock.take(), fetchShareParticipantsResultBlock.take(),
            olderShareParticipantFetchedBlock.take(), olderFetchShareParticipantsCompletionBlock.take()
        )
    }
}

extension CKOperation {
    /// Ends an operation with the error that sharing isn't available.
    func endWithoutSharing(_ report: (CKError) -> Void) {
        report(isCancelled ? .cancelled : .noSharing)
        finish()
    }
}
