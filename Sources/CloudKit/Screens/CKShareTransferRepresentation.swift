/// Turns an item of an app into a share on the share sheet.
/// - Note: Inert: there is no share sheet on Linux, and no CoreTransferable; the exporter is never called.
public struct CKShareTransferRepresentation<Item>: Sendable {
    /// The share of an item: an existing one, or one to be created.
    public struct ExportedShare: Sendable {
        private init() {}

        /// Returns an existing share.
        public static func existing(
            _ share: CKShare, container: CKContainer,
            allowedSharingOptions: CKAllowedSharingOptions = CKAllowedSharingOptions.standard
        ) -> ExportedShare { ExportedShare() }

        /// Returns a share that `preparationHandler` would make.
        @preconcurrency
        public static func prepareShare(
            container: CKContainer,
            allowedSharingOptions: CKAllowedSharingOptions = CKAllowedSharingOptions.standard,
            preparationHandler: @escaping @Sendable () async throws -> CKShare
        ) -> ExportedShare { ExportedShare() }
    }

    private let exporter: @Sendable (Item) -> ExportedShare

    /// Makes a representation that gets an item's share from `exporter`.
    @preconcurrency public init(exporter: @escaping @Sendable (Item) -> ExportedShare) {
        self.exporter = exporter
        Inert.say("CKShareTransferRepresentation", "there is no share sheet")
    }
}
