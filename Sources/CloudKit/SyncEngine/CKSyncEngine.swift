internal import System

/// Keeps a database and an app's own records the same, asking the app what to send and telling it what came.
///
/// Its symbols are here so that code which has them compiles. The engine isn't there yet: it keeps what is pending, and
/// `fetchChanges` and `sendChanges` throw an error that says what to use instead.
/// - Note: Coming: with sharing; until then the operations for changes, or `CloudSync` of the module YapCloudKit.
public final class CKSyncEngine: Sendable, CustomStringConvertible {
    /// The database that is kept the same.
    public let database: CKDatabase
    /// What is pending.
    public let state: State
    private let configuration: Configuration

    /// Makes an engine. It does nothing by itself yet, also with `automaticallySync`.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
        database = configuration.database
        state = State()
    }

    /// Fetches what changed in the cloud.
    /// - Throws: `CKError.serverRejectedRequest`, always: the engine isn't there yet.
    public func fetchChanges(_ options: FetchChangesOptions = FetchChangesOptions()) async throws {
        throw CKError.noSyncEngine
    }

    /// Sends what is pending.
    /// - Throws: `CKError.serverRejectedRequest`, always: the engine isn't there yet.
    public func sendChanges(_ options: SendChangesOptions = SendChangesOptions()) async throws {
        throw CKError.noSyncEngine
    }

    /// Cancels what runs: nothing, as nothing can.
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
        CKSyncEngine isn't there yet. Use CKFetchDatabaseChangesOperation, CKFetchRecordZoneChangesOperation and \
        CKModifyRecordsOperation, or CloudSync of the module YapCloudKit, which does a sync engine's work.
        """)
}

extension CKSyncEngine {
    /// What an engine is made from.
    public struct Configuration: Sendable, CustomStringConvertible {
        /// The database: a private or a shared one.
        public var database: CKDatabase
        /// The state that the app stored last; nil for an engine that never ran.
        public var stateSerialization: State.Serialization?
        /// Whom the engine asks and tells. It is held weakly: after its end nobody is asked, and this is an object that
        /// does nothing.
        public var delegate: any CKSyncEngineDelegate {
            get { weakDelegate.withLock { $0.delegate } ?? NoDelegate.shared }
            set { weakDelegate = Lock(WeakDelegate(delegate: newValue)) }
        }
        /// Whether the engine fetches and sends by itself.
        public var automaticallySync = true
        /// The database subscription to use; nil for one of the engine's own.
        public var subscriptionID: CKSubscription.ID?

        private struct WeakDelegate: Sendable {
            weak var delegate: (any CKSyncEngineDelegate)?
        }

        private var weakDelegate: Lock<WeakDelegate>

        /// Makes a configuration of an engine for `database` that goes on from `stateSerialization`.
        public init(
            database: CKDatabase, stateSerialization: State.Serialization?,
            delegate: any CKSyncEngineDelegate
        ) {
            self.database = database
            self.stateSerialization = stateSerialization
            weakDelegate = Lock(WeakDelegate(delegate: delegate))
        }

        /// The database and what the engine does by itself, for logs.
        public var description: String {
            "Configuration(database: \(database), automaticallySync: \(automaticallySync))"
        }
    }
}

/// Whom an engine asks when the app's delegate is gone.
private final class NoDelegate: CKSyncEngineDelegate {
    static let shared = NoDelegate()

    func handleEvent(_ event: CKSyncEngine.Event, syncEngine: CKSyncEngine) async {}

    func nextRecordZoneChangeBatch(
        _ context: CKSyncEngine.SendChangesContext, syncEngine: CKSyncEngine
    ) async -> CKSyncEngine.RecordZoneChangeBatch? { nil }
}
