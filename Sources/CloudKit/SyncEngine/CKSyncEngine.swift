internal import System

/// Syncs a database with an app's own records. The app provides the records to send, and receives the fetched
/// ones.
///
/// Code with its symbols compiles. The engine isn't available yet: it stores the pending changes, and
/// `fetchChanges` and `sendChanges` throw an error that names the alternatives.
/// - Note: Coming: with sharing; until then the operations for changes, or `CloudSync` of the module YapCloudKit.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The synced database.
    public let database: CKDatabase
    /// The pending changes.
    public let state: State
    private let configuration: Configuration

    /// Makes an engine. It does nothing by itself yet, also with `automaticallySync`.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        database = configuration.database
        state = State()
    }

    /// Fetches the changes in the cloud.
    /// - Throws: `CKError.serverRejectedRequest`, always: the engine isn't available yet.
    public func fetchChanges(_ options: FetchChangesOptions = FetchChangesOptions()) async throws {
        throw CKError.noSyncEngine
    }

    /// Sends the pending changes.
    /// - Throws: `CKError.serverRejectedRequest`, always: the engine isn't available yet.
    public func sendChanges(_ options: SendChangesOptions = SendChangesOptions()) async throws {
        throw CKError.noSyncEngine
    }

    /// Cancels running operations. There are none yet.
    public func cancelOperations() async {}

    /// The database and the number of pending changes, for logs.
    public var description: String {
        "<CKSyncEngine: \(database), \(state.pendingRecordZoneChanges.count) changes of records pending>"
    }
}

extension CKError {
    static let noSyncEngine = CKError(
        .serverRejectedRequest,
        """
        CKSyncEngine isn't available yet. Use CKFetchDatabaseChangesOperation, CKFetchRecordZoneChangesOperation and \
        CKModifyRecordsOperation, or CloudSync of the module YapCloudKit, which does a sync engine's work.
        """)
}

extension CKSyncEngine {
    /// The options of an engine.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database: a private or a shared one.
        public var database: CKDatabase
        /// The state that the app stored last; nil for a new engine.
        public var stateSerialization: State.Serialization?
        /// The delegate, held weakly. After it was released, this is an object that does nothing.
        public var delegate: any CKSyncEngineDelegate {
            get { weakDelegate.withLock { $0.delegate } ?? NoDelegate.shared }
            set { weakDelegate = Lock(WeakDelegate(delegate: newValue)) }
        }
        /// True if the engine fetches and sends by itself.
        public var automaticallySync = true
        /// The database subscription to use; nil for one of the engine's own.
        public var subscriptionID: CKSubscription.ID?

        private struct WeakDelegate: Sendable {
            weak var delegate: (any CKSyncEngineDelegate)?
        }

        private var weakDelegate: Lock<WeakDelegate>

        /// Makes a configuration of an engine for `database` that continues from `stateSerialization`.
        public init(
            database: CKDatabase, stateSerialization: State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            weakDelegate = Lock(WeakDelegate(delegate: delegate))
        }

        /// The database and the automatic actions, for logs.
        public var description: String {
            "Configuration(database: \(database), automaticallySync: \(automaticallySync))"
        }
    }
}

/// The delegate of an engine after the app's delegate was released.
private final class NoDelegate: CKSyncEngineDelegate {
    static let shared = NoDelegate()

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
