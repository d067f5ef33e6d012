public import Foundation

/// Items for the share sheet. Foundation on Linux lacks this class.
/// - Note: Inert: there is no share sheet on Linux; registered items are discarded.
open class NSItemProvider: NSObject, @unchecked Sendable {
    // Sendable because it holds nothing.

    /// Makes a provider of nothing.
    public override init() {
        super.init()
    }

    /// Would offer an existing share.
    public func registerCKShare(
        _ share: CKShare, container: CKContainer,
        allowedSharingOptions: CKAllowedSharingOptions = CKAllowedSharingOptions.standard
    ) {
        Inert.say("NSItemProvider.registerCKShare", "there is no share sheet")
    }

    /// Would offer to make a share. `preparationHandler` is never called.
    @preconcurrency
    public func registerCKShare(
        container: CKContainer,
        allowedSharingOptions: CKAllowedSharingOptions = CKAllowedSharingOptions.standard,
        preparationHandler: @escaping @Sendable () async throws -> CKShare
    ) {
        Inert.say("NSItemProvider.registerCKShare", "there is no share sheet")
    }
}
