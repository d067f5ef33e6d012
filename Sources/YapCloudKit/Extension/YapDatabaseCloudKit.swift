public import CloudKit
internal import System
public import Yap

/// Syncs rows of the database with records of the cloud. It records changes in a queue inside the app's own
/// transaction, and uploads the queue.
///
/// Register it once with `database.register(_:withName:)`. Inside a transaction, get it with `transaction.ext(_:as:)`.
/// The app fetches changes itself, unless it uses `CloudSync`.
///
/// Records of removed rows are deleted in the cloud. The exception is `removeAllObjectsInAllCollections`: it removes
/// the rows of this device only. Changes that were queued before are still uploaded, and the records come back only if
/// they change or the zone is fetched without a token. To choose, call
/// `YapDatabaseCloudKitTransaction.removeAllObjectsInAllCollections(inCloud:)`.
public final class YapDatabaseCloudKit: YapDatabaseExtension {
    /// Merges a remote version into the app's row. It is called inside a write transaction, once for each row that
    /// stands for the record. If no row does and changes are still pending, it is called once without collection and
    /// key.
    public typealias MergeBlock =
        @Sendable (
            _ transaction: YapDatabaseReadWriteTransaction, _ collection: String?, _ key: String?,
            _ remoteRecord: CKRecord, _ mergeInfo: YDBCKMergeInfo
        ) throws -> Void
    /// Receives an error of an upload or fetch.
    public typealias OperationErrorBlock = @Sendable (_ databaseIdentifier: String?, _ error: CKError) -> Void
    /// Returns the cloud database of an identifier, or nil if it is unknown.
    public typealias DatabaseIdentifierBlock = @Sendable (_ databaseIdentifier: String?) -> CKDatabase?

    /// Version of the tables.
    public static let classVersion = 5

    /// Version of the handler. If it changes, the handler is called for all rows at the registration.
    public let versionTag: String
    let versionInfo: (any Sendable)?
    let recordHandler: YapDatabaseCloudKitRecordHandler
    let mergeBlock: MergeBlock
    let options: Options
    let random: any RandomSource
    let assetFiles: any AssetFiles
    let runner: SyncRunner
    /// Cache of values that commits queued without storing them, and of values that the handler returned later.
    let restored = Lock(RestoredValues())
    /// The server's responses since an app that fetches by itself began a fetch.
    let writes = WritesSinceFetch()
    /// Whether a deletion stores the fields of the deleted record, so that a later fetch can distinguish another
    /// device's edit from an echo.
    let keepsDeletedFields: Bool
    /// Whether zones are compared with the server's.
    let verifiesZones: Bool

    /// Maximum number of errors that are pending for the app's block.
    private static let waitingErrorsMax = 1000

    /// Makes the extension.
    ///
    /// - Parameters:
    ///   - recordHandler: Returns the record that a row stands for, and its changed values.
    ///   - mergeBlock: Merges a remote version into a row.
    ///   - operationErrorBlock: Called with each error, including those that the extension handles, one at a time on a
    ///     separate queue. If more than 1,000 errors are pending, the oldest are dropped.
    ///   - databaseIdentifierBlock: Returns the database of an identifier. By default nil is the private database of
    ///     the default container, and other identifiers are unknown.
    ///   - versionTag: Version of the handler.
    ///   - versionInfo: Passed to the handler while it is called for all rows.
    ///   - options: Options of the extension.
    public convenience init(
        recordHandler: YapDatabaseCloudKitRecordHandler, mergeBlock: @escaping MergeBlock,
        operationErrorBlock: @escaping OperationErrorBlock,
        databaseIdentifierBlock: DatabaseIdentifierBlock? = nil, versionTag: String,
        versionInfo: (any Sendable)? = nil, options: Options = Options()
    ) {
        // The app's block may block, and the sync's loop must not wait for it.
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

    /// Returns the names of the tables that it owns.
    public func tableNames(registeredName: String) -> [String] {
        CloudKitTables.tableNames(registeredName)
    }

    /// Makes the extension's part of a handle.
    public func makeConnection(registeredName: String) -> YapDatabaseCloudKitConnection {
        YapDatabaseCloudKitConnection(self, registeredName)
    }

    /// Starts the sync, with the changes that earlier runs left in the queue.
    public func didRegister(registeredName: String, database: YapDatabase) {
        runner.start(database: database, registeredName: registeredName)
    }

    func isAllowed(_ collection: String) -> Bool {
        options.allowedCollections?.contains(collection) ?? true
    }
}

/// The extension at one SQLite handle. It caches no rows of the tables, so no handle can have an old tag.
public final class YapDatabaseCloudKitConnection: YapDatabaseExtensionConnection {
    let cloudKit: YapDatabaseCloudKit
    let registeredName: String
    /// Created in the first transaction, which has the path of the database.
    private var texts: StatementTexts?

    init(_ cloudKit: YapDatabaseCloudKit, _ registeredName: String) {
        self.cloudKit = cloudKit
        self.registeredName = registeredName
    }

    /// Returns the extension in a transaction.
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
