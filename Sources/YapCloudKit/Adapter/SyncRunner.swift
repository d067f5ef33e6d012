internal import CloudKit
internal import Seams
internal import Yap

/// Runs the engine: feeds it events one at a time, and carries out its actions with CloudKit's operations and
/// with transactions of the device's database.
final class SyncRunner: Sendable {
    private struct State {
        var engine: SyncEngine
        var events: [SyncEvent] = []
        var log: [CloudMergeLogEntry] = []
        /// The number of the last entry that was handed out.
        var heardLogID: Int64 = 0
        var isRecountNeeded = false
        var isLogLeft = false
        var isDraining = false
        /// The database was closed: nothing can be done or found out any more.
        var isEnded = false
        var suspendCount = 0
        var registeredName = ""
        /// Weak, because the database keeps the extension, which keeps this.
        weak var database: YapDatabase?
        /// Kept as long as something is under way: it keeps the database, and opening one takes time.
        var connection: YapDatabaseConnection?
        var status = CloudSyncStatus.idle
        var observers: [Int: AsyncStream<CloudSyncStatus>.Continuation] = [:]
        var nextObserver = 0
        var waiters: [@Sendable (CloudSyncStatus) -> Void] = []
        /// What ends the listening to databases' notifications.
        var listenings: [@Sendable () -> Void] = []
        /// The database was closed: nothing is listened to any more.
        var isListeningEnded = false
        /// Whose changes are in the queue, as far as it was read.
        var users: [DatabaseKey: String] = [:]
    }

    let environment: SyncEnvironment
    let zoneHandler: SyncZoneHandler?
    private let state: Lock<State>

    init(environment: SyncEnvironment, zoneHandler: SyncZoneHandler?) {
        self.environment = environment
        self.zoneHandler = zoneHandler
        state = Lock(State(engine: SyncEngine(random: environment.random)))
    }

    deinit {
        for observer in state.withLock({ $0.observers }).values { observer.finish() }
        for end in state.withLock({ $0.listenings }) { end() }
    }

    // MARK: From outside

    /// The extension is registered: what waits from earlier runs can go.
    func start(database: YapDatabase, registeredName: String) {
        let isOurTurn = beginTurn(database, registeredName)
        schedule {
            // Asked once more: the lock may have become ours meanwhile, and that was told before this.
            $0.events.append(.turn(isOurs: isOurTurn || environment.turn?.isOurs == true))
            $0.database = database
            $0.isEnded = false
            $0.isListeningEnded = false
            $0.users = [:]
            $0.registeredName = registeredName
            $0.isLogLeft = true
            $0.isRecountNeeded = true
        }
    }

    /// Somebody begins to listen to the log.
    func handOutLog() {
        schedule { $0.isLogLeft = true }
    }

    /// Asks whether this process syncs, and learns from now on of what other processes commit.
    private func beginTurn(_ database: YapDatabase, _ registeredName: String) -> Bool {
        guard let turn = environment.turn else { return true }
        database.addCommitObserver(
            { [weak self] commit in
                if commit.isExternal { self?.schedule { $0.isRecountNeeded = true } }
            },
            whenEnded: { [weak turn, weak self] in
                turn?.end()
                // Of several waits of one device the newest gets what is told: the next process's, from here on.
                self?.endListening()
            })
        let listener = SyncTurn.Listener(
            isOurs: { [weak self] in
                self?.schedule {
                    $0.events.append(.turn(isOurs: true))
                    $0.isRecountNeeded = true
                }
            },
            rang: { [weak self, weak database] snapshot in
                guard let database, snapshot.map({ $0 > database.snapshot }) ?? true else { return }
                // The count begins a transaction, and by that it notices the commit.
                self?.schedule { $0.isRecountNeeded = true }
            })
        do {
            return try turn.begin(
                path: SyncTurn.path(database: database.path, registeredName: registeredName),
                listener: listener)
        } catch {
            // Two that sync meet conflicts, and merge them; nobody who syncs would be worse.
            environment.errorBlock(nil, CKError(.internalError, "\(error): syncing without a lock"))
            return true
        }
    }

    /// A commit was made here. Called while the database's writer is held.
    func ring(snapshot: UInt64) {
        environment.turn?.ring(snapshot: snapshot)
    }

    /// A commit touched the queue. Called while the database's writer is held.
    func committed(_ log: [CloudMergeLogEntry], isByEngine: Bool) {
        schedule {
            $0.log += log
            if !isByEngine { $0.isRecountNeeded = true }
        }
    }

    func post(_ event: SyncEvent) {
        schedule { $0.events.append(event) }
    }

    var suspendCount: Int { state.withLock { $0.suspendCount } }

    func changeSuspendCount(by change: Int) -> Int {
        var count = 0
        schedule { state in
            let (sum, isOverflow) = state.suspendCount.addingReportingOverflow(change)
            state.suspendCount = isOverflow ? .max : max(0, sum)
            count = state.suspendCount
            state.events.append(.suspendCount(count))
        }
        return count
    }

    var status: CloudSyncStatus { state.withLock { $0.status } }

    /// The status now, and each time it changes.
    func statusStream() -> AsyncStream<CloudSyncStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: CloudSyncStatus.self, bufferingPolicy: .bufferingNewest(Self.bufferedStatusesMax))
        let number = state.withLock { state in
            state.nextObserver += 1
            state.observers[state.nextObserver] = continuation
            continuation.yield(state.status)
            return state.nextObserver
        }
        continuation.onTermination = { [weak self] _ in
            // Taken out under the lock, dropped outside of it.
            _ = self?.state.withLock { $0.observers.removeValue(forKey: number) }
        }
        return stream
    }

    private static let bufferedStatusesMax = 64

    /// Calls `body` once, when all events so far are dealt with and nothing is under way.
    func whenQuiet(_ body: @escaping @Sendable (CloudSyncStatus) -> Void) {
        schedule { $0.waiters.append(body) }
    }

    /// The databases in which something is followed.
    var followedDatabases: [DatabaseKey] {
        state.withLock { $0.engine.followedDatabases }
    }

    // MARK: The loop

    private func schedule(_ change: (inout State) -> Void) {
        let mustStart = state.withLock { state in
            change(&state)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if mustStart { environment.scheduler.perform { [self] in drain() } }
    }

    /// Deals with events until there are none. Only one thread is here at a time. An answer that comes at
    /// once, on this thread, only adds its event: the stack doesn't grow with the queue.
    private func drain() {
        while true {
            let (log, isRecountNeeded, isLogLeft) = state.withLock { state in
                defer {
                    state.log = []
                    state.isRecountNeeded = false
                    state.isLogLeft = false
                }
                return (state.log, state.isRecountNeeded, state.isLogLeft)
            }
            if isLogLeft { handOutLeftLog() }
            handOut(log)
            if isRecountNeeded { recount() }
            let now = environment.clock.nowMilliseconds()
            let actions = state.withLock { state -> [SyncAction]? in
                if state.isEnded { state.events = [] }
                guard !state.events.isEmpty else { return nil }
                return state.engine.handle(state.events.removeFirst(), now: now)
            }
            if let actions {
                for action in actions { perform(action) }
            } else if let waiters = rest() {
                let status = status
                for waiter in waiters { waiter(status) }
                return
            }
        }
    }

    /// Ends the loop when nothing came in the meantime. Returns those who waited for quiet, if it is quiet.
    private func rest() -> [@Sendable (CloudSyncStatus) -> Void]? {
        state.withLock { state in
            guard state.events.isEmpty, state.log.isEmpty, !state.isRecountNeeded, !state.isLogLeft
            else { return nil }
            state.isDraining = false
            if case .syncing = state.status { return [] }
            state.connection = nil
            defer { state.waiters = [] }
            return state.waiters
        }
    }

    private func perform(_ action: SyncAction) {
        switch action {
        case .send(let key, let itemsMax): send(key, itemsMax: itemsMax)
        case .complete(let key, let completion): complete(key, completion)
        case .fetch(let key, let zoneID): fetch(key, zoneID)
        case .createZone(let key, let zoneID): createZone(key, zoneID)
        case .listen(let key): listen(key)
        case .subscribe(let key): subscribe(key)
        case .dropToken(let key, let zoneID, let refusal):
            change(key) { _, ext in try ext.beginFullFetch(zoneID, key, refusal) }
        case .liftRefusals(let key):
            change(key) { _, ext in try ext.writing { _ in try ext.tables.liftRefusals(key) } }
        case .wake(let milliseconds):
            environment.scheduler.wake(ObjectIdentifier(self), atMilliseconds: milliseconds) { [weak self] in
                self?.post(.tick)
            }
        case .tell(let key, let error):
            environment.errorBlock(key.identifier, error)
        case .status(let status):
            let observers = state.withLock { state in
                state.status = state.isEnded ? Self.ended : status
                return state.observers.sorted { $0.key < $1.key }.map(\.value)
            }
            let status = self.status
            for observer in observers { observer.yield(status) }
        }
    }

    /// What is said once the database was closed: what waited there still does.
    private static let ended = CloudSyncStatus.waiting(until: nil, because: .localDatabase)

    /// A closed database has nothing more to do; but who waits for the sync must not wait for ever.
    private func end() {
        state.withLock { $0.isEnded = true }
        perform(.wake(atMilliseconds: nil))
        perform(.status(Self.ended))
        // Finished outside of the lock: a stream that ends comes back here at once.
        let observers = state.withLock { state in
            defer { state.observers = [:] }
            return state.observers
        }
        for observer in observers.values { observer.finish() }
        endListening()
    }

    /// Keeps what ends a listening; ends it at once when the database is closed already.
    func keep(listening end: @escaping @Sendable () -> Void) {
        let isEnded = state.withLock { state in
            if !state.isListeningEnded { state.listenings.append(end) }
            return state.isListeningEnded
        }
        if isEnded { end() }
    }

    private func endListening() {
        let listenings = state.withLock { state in
            state.isListeningEnded = true
            defer { state.listenings = [] }
            return state.listenings
        }
        for end in listenings { end() }
    }

    // MARK: The log

    /// Once handed out, entries go from the table with the next transaction.
    private func handOut(_ log: [CloudMergeLogEntry]) {
        // What was read from the table may also have come with its commit.
        let heard = state.withLock { $0.heardLogID }
        let log = log.filter { $0.id > heard }
        guard let last = log.last else { return }
        guard environment.logBlock(log) else { return }
        state.withLock { $0.heardLogID = max($0.heardLogID, last.id) }
    }

    /// What an earlier run decided and may not have told.
    private func handOutLeftLog() {
        var left: [CloudMergeLogEntry] = []
        read(DatabaseKey(nil)) { left = try $0.tables.logEntries() }
        handOut(left)
    }

    // MARK: The device's database

    /// The way into the database, the extension's name in it, and how far the log was heard; nil before the
    /// extension was registered, and when the database is gone.
    private func connection() -> (YapDatabaseConnection, name: String, heardLogID: Int64)? {
        state.withLock { state in
            let connection = state.connection ?? state.database?.newConnection()
            state.connection = connection
            return connection.map { ($0, state.registeredName, state.heardLogID) }
        }
    }

    private func recount() {
        // A database whose queue was emptied has no change-set any more.
        let known = state.withLock { Set($0.engine.lanes.keys) }
        read(DatabaseKey(nil)) { ext in
            for key in known.union(try ext.tables.databases()).sorted() {
                self.post(.counted(key, try ext.tables.counts(key)))
            }
        }
    }

    /// Reads, and says so to the engine when that fails.
    private func read(_ key: DatabaseKey, _ body: (YapDatabaseCloudKitTransaction) throws -> Void) {
        guard let (connection, name, _) = connection() else { return }
        do {
            try connection.blocking.read { transaction in
                try body(try transaction.ext(name, as: YapDatabaseCloudKit.self))
            }
        } catch {
            localFailure(key, error)
        }
    }

    /// Writes, and tells the engine how the queue is then.
    func change(
        _ key: DatabaseKey, done: @escaping (QueueCount) -> SyncEvent,
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Void
    ) {
        guard let (connection, name, heard) = connection() else { return }
        do {
            let count = try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
                ext.isByEngine = true
                if heard > 0 { try ext.tables.removeLogEntries(through: heard) }
                try body(transaction, ext)
                // A merge block may change rows whose records are in another database.
                if ext.openChangeSets.keys.contains(where: { $0 != key }) { ext.isByEngine = false }
                return try ext.tables.counts(key)
            }
            post(done(count))
        } catch {
            localFailure(key, error)
        }
    }

    private func change(
        _ key: DatabaseKey,
        _ body: (YapDatabaseReadWriteTransaction, YapDatabaseCloudKitTransaction) throws -> Void
    ) {
        change(key, done: { .applied(key, $0) }, body)
    }

    private func localFailure(_ key: DatabaseKey, _ error: any Error) {
        if let error = error as? YapDatabaseError, error.code == .closed { return end() }
        post(.localFailure(key, message: "\(error)"))
    }

    private func complete(_ key: DatabaseKey, _ completion: SyncCompletion) {
        change(key) { _, ext in
            guard let zoneHandler else { return try ext.complete(completion, key, merge: nil) }
            try ext.complete(completion, key) { transaction, record in
                try zoneHandler.applyRecord(transaction, ext, key, record)
            }
        }
    }

    // MARK: The cloud

    func cloudDatabase(_ key: DatabaseKey) -> CKDatabase? {
        guard let database = environment.databaseBlock(key.identifier) else {
            post(.unknownDatabase(key))
            return nil
        }
        return database
    }

    /// The database, and as whom it is to be asked, when no other user is signed in than the one whose changes are in
    /// the queue: the first who was.
    func ownCloudDatabase(_ key: DatabaseKey) -> (database: CKDatabase, userRecordName: String?)? {
        guard let database = cloudDatabase(key) else { return nil }
        let now = database.knownUserRecordName
        do {
            let owner = try userRecordName(key, orElse: now)
            if let now, let owner, now != owner {
                post(.anotherUser(key))
                return nil
            }
            return (database, owner)
        } catch {
            localFailure(key, error)
            return nil
        }
    }

    private func userRecordName(_ key: DatabaseKey, orElse now: String?) throws -> String? {
        if let known = state.withLock({ $0.users[key] }) { return known }
        guard let (connection, name, _) = connection() else { return now }
        let kept = try connection.blocking.read {
            try $0.ext(name, as: YapDatabaseCloudKit.self).tables.userRecordName(key)
        }
        if kept == nil, let now {
            try connection.blocking.readWrite { transaction in
                let ext = try transaction.ext(name, as: YapDatabaseCloudKit.self)
                try ext.writing { _ in try ext.tables.setUserRecordName(now, key) }
            }
        }
        let owner = kept ?? now
        state.withLock { $0.users[key] = owner }
        return owner
    }

    private func send(_ key: DatabaseKey, itemsMax: Int) {
        guard let (database, user) = ownCloudDatabase(key) else { return }
        var isEmpty = false
        read(key) { ext in
            let batch = try ext.batch(key, itemsMax: itemsMax)
            isEmpty = batch.items.isEmpty
            guard !isEmpty else { return }
            let operation = CKModifyRecordsOperation.sending(batch) { self.post(.sent(key, $0)) }
            operation.userRecordName = user
            self.environment.scheduler.perform { database.add(operation) }
        }
        guard isEmpty else { return }
        // Values that can't be given back are put aside.
        change(key) { _, ext in
            _ = try ext.takeBatch(key, itemsMax: itemsMax, bytesMax: .max)
            try ext.writing { _ in try ext.tables.clearInFlight(key) }
        }
    }

    private func fetch(_ key: DatabaseKey, _ zoneID: CKRecordZone.ID) {
        guard let (database, user) = ownCloudDatabase(key), let zoneHandler else { return }
        read(key) { ext in
            let token = try ext.token(forZone: zoneID, databaseIdentifier: key.identifier)
            let operation = CKFetchRecordZoneChangesOperation.page(of: zoneID, since: token) { result in
                switch result {
                case .failure(let error): self.post(.fetchFailed(key, zoneID, error))
                case .success(let page): self.apply(page, key, zoneHandler)
                }
            }
            operation.userRecordName = user
            self.environment.scheduler.perform { database.add(operation) }
        }
    }

    private func apply(_ page: SyncPage, _ key: DatabaseKey, _ handler: SyncZoneHandler) {
        change(key, done: { .pageApplied(key, page.zoneID, moreComing: page.moreComing, $0) }) {
            try handler.applyPage($0, $1, key, page)
        }
    }

    private func createZone(_ key: DatabaseKey, _ zoneID: CKRecordZone.ID) {
        guard let (database, user) = ownCloudDatabase(key) else { return }
        let operation = CKModifyRecordZonesOperation.creating(zoneID) { error in
            self.post(.zoneCreated(key, zoneID, error))
        }
        operation.userRecordName = user
        environment.scheduler.perform { database.add(operation) }
    }
}
