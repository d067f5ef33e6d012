public import Foundation

/// Observes the system's share sheet when it saves or ends a share.
/// - Note: Inert: there is no share sheet on Linux, so its blocks are never called.
public final class CKSystemSharingUIObserver: NSObject, @unchecked Sendable {
    // Sendable because an app sets its blocks up before it shows a sheet, and nothing calls them.

    private let container: CKContainer

    /// Makes an observer of the shares of `container`.
    public init(container: CKContainer) {
        self.container = container
    }

    /// Would be called when a share was saved, or couldn't be.
    @preconcurrency public var systemSharingUIDidSaveShareBlock:
        (@Sendable (CKRecord.ID, Result<CKShare, any Error>) -> Void)?
    {
        didSet { Inert.say("CKSystemSharingUIObserver", "there is no share sheet") }
    }

    /// Would be called when a share was ended, or couldn't be.
    @preconcurrency public var systemSharingUIDidStopSharingBlock:
        (@Sendable (CKRecord.ID, Result<Void, any Error>) -> Void)?
    {
        didSet { Inert.say("CKSystemSharingUIObserver", "there is no share sheet") }
    }
}
