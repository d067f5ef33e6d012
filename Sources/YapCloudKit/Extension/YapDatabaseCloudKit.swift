public import CloudKit
internal import System
public import Yap

/// Keeps rows of the database and records of the cloud the same: records what changes in a queue inside the
/// app's own transaction, and uploads the queue.
///
/// Register it once with `database.register(_:withName:)`; inside a transaction reach it with
/// `transaction.ext(_:as:)`. What it uploads by itself, and what it does about errors, is decided by one
/// table (`ErrorDisposition`); fetching is the app's part, unless `CloudSync` does both.
///
/// Rows that are removed are deleted in the cloud, one by one or by collection. `removeAllObjectsInAllCollections`
/// is the exception: it empties this device and deletes nothing in the cloud. What was queued before still goes up,
/// and the records come back only when they change or the zone is fetched without a token. With
/// `YapDatabaseCloudKitTransaction.removeAllObjectsInAllCollections(inCloud:)` the app says which of both it means.
public final class YapDatabaseCloudKit: YapDatabaseExtension {
    /// Merges a remote version into the app's row. It is called inside a write transaction, once for each row
    /// that stands for the record, or once without collection and key when none does and changes still wait.
    public typealias MergeBlock =
        @Sendable (
            _ transaction: YapDatabaseReadWriteTransaction, _ collection: String?, _ key: String?,
            _ remoteRecord: CKRecord, _ mergeInfo: YDBCKMergeInfo
        ) throws -> Void
    /// Hears of an error in the upload or fetch.
    public typealias OperationErrorBlock = @Sendable (_ databaseIdentifier: String?, _ error: CKError) -> Void
    /// Says which database an identifier stands for.
    public typealias DatabaseIdentifierBlock = @Sendable (_ databaseIdentifier: String?) -> CKDatabase?

    /// The version of the tables.
    public static let classVersion = 5

    /// The version of the handler: with another one than before, all rows are walked at registration.
    public let versionTag: String
    let versionInfo: (any Sendable)?
    let recordHandler: YapDatabaseCloudKitRecordHandler
    let mergeBlock: MergeBlock
    let options: Options
    let random: any RandomSource
    let assetFiles: any AssetFiles
    let runner: SyncRunner
    /// What commits queued without storing it, and what was asked of the handler since.
    let restored = Lock(RestoredValues())
    /// What the server did since an app that fetches by itself began to.
    let writes = WritesSinceFetch()
    /// Whether a deletion keeps what it deleted, so that a later fetch can tell another device's edit from an
    /// echo.
    let keepsDeletedFields: Bool
    /// Whether zones are compared with the server's.
    let verifiesZones: Bool

    /// Maximum number of errors that wait for the app's block.
    private static let waitingErrorsMax = 1000

    /// Makes the extension.
    ///
    /// - Parameters:
    ///   - recordHandler: Says which record a row stands for, and what changed in it.
    ///   - mergeBlock: Merges a remote version into a row.
    ///   - operationErrorBlock: Called with each error, also of those that are dealt with by themselves, one at a time
    ///     on a queue of its own. Of more than 1,000 errors that wait for it the oldest are dropped.
    ///   - databaseIdentifierBlock: Says which database an identifier stands for; nil means that identifier
    ///     nil is the private database of the default container, and that there is no other.
    ///   - versionTag: The version of the handler.
    ///   - versionInfo: Handed to the handler while all rows are walked.
    ///   - options: Which collections are synced.
    public convenience init(
        recordHandler: YapDatabaseCloudKitRecordHandler, mergeBlock: @escaping MergeBlock,
        operationErrorBlock: @escaping OperationErrorBlock,
        databaseIdentifierBlock: DatabaseIdentifierBlock? = nil, versionTag: String,
        versionInfo: (any Sendable)? = nil, options: Options = Options()
    ) {
        // The app's block may block, and the sync's loop doesn't wait for it.
        let errors = HandlerQueue<(String?, CKError)>(
            label: "YapCloudKit.operationErrorBlock", valuesMax: Self.waitingErrorsMax,
            handler: { operationErrorBlock($0, $1) })
        let environment = SyncEnvironment(
            scheduler: ThreadScheduler(), clock: SystemTimeSource(), random: SystemRandomSource(),
            databaseBlock: databaseIdentifierBlock
                ?? { $0 == nil ? CKContainer.default().privateCloudDatabase : nil },
            errorBlock: { errors.add(($0, $1)) }, processLock: SyncProcessLock(acquires: true))
        self.init(
            recordHandler: recordHandler, mergeBlock: mergeBlock, versionTag: versionTag,
            versionInfo: versionInfo, options: options, environment: environment)
    }

    package init(
        recordHandler: YapDatabaseCloudKitRecordHandler, mergeBlock: @escaping MergeBlock, versionTag: String,
        versionInfo: (any Sendable)? = nil, options: Options = Options(), environment: SyncEnvironment,
        keepsDeletedFields: Bool = false, zoneHandler: SyncZoneHandler? = nil
    ) {
        self.recordHandler = recordHandler
        self.mergeBlock = mergeBlock
        self.versionTag = versionTag
        self.versionInfo = versionInfo
        self.options = options
        self.keepsDeletedFields = keepsDeletedFields
        random = environment.random
        assetFiles = environment.assetFiles
        verifiesZones = environment.verifiesZones
        runner = SyncRunner(
            environment: environment, zoneHandler: zoneHandler, failures: options.failures)
    }

    // MARK: The extension

    /// The tables that it owns.
    public func tableNames(registeredName: String) -> [String] {
        CloudKitTables.tableNames(registeredName)
    }

    /// What a handle keeps for it: nothing but the name.
    public func makeConnection(registeredName: String) -> YapDatabaseCloudKitConnection {
        YapDatabaseCloudKitConnection(self, registeredName)
    }

    /// Starts the upload of what waits from earlier runs.
    public func didRegister(registeredName: String, database: YapDatabase) {
        runner.start(database: database, registeredName: registeredName)
    }

    func isAllowed(_ collection: String) -> Bool {
        options.allowedCollections?.contains(collection) ?? true
    }
}

/// The extension at one SQLite handle. It caches nothing: what it knows is in the tables, so no handle can
/// have an old tag.
public final class YapDatabaseCloudKitConnection: YapDatabaseExtensionConnection {
    let cloudKit: YapDatabaseCloudKit
    let registeredName: String
    /// Made with the first transaction, which knows where the database lies.
    private var texts: StatementTexts?

    init(_ cloudKit: YapDatabaseCloudKit, _ registeredName: String) {
        self.cloudKit = cloudKit
        self.registeredName = registeredName
    }

    /// The extension in a transaction.
    public func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> YapDatabaseCloudKitTransaction {
        let made = YapDatabaseCloudKitTransaction(cloudKit, registeredName, texts, transaction)
        texts = made.tables.texts
        return made
    }

    /// Nothing is cached.
    public func apply(_ changes: any Sendable) {}
    /// Nothing is cached.
    public func dropCaches() {}
}
