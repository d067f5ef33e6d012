public import Foundation
internal import System

/// Something asked of the cloud. Set its properties and blocks, then add it to a database or a container.
open class CKOperation: Operation, @unchecked Sendable {
    // Sendable because what changes while it runs is behind a lock. The rest (blocks, inputs, configuration, database)
    // is set before the operation starts: by the app, as Apple's documentation demands, and by the `add` that starts
    // it, which traps the second time. Then it is only read, until `finish()` clears the blocks on the queue that calls
    // them.

    /// An operation's identity.
    public typealias ID = String
    /// How an operation is carried out.
    public typealias Configuration = CKOperationConfiguration

    private struct State {
        var wasAdded = false
        var wasStarted = false
        var isExecuting = false
        var isFinished = false
        var cancelRunning: (@Sendable () -> Void)?
    }

    private let state = Lock(State())
    private let serialQueue = Lock<DispatchQueue?>(nil)
    private var completion: (@Sendable () -> Void)?
    /// Where the operation runs when it names no database: set by the container it is added to.
    var defaultDatabase: CKDatabase?
    /// The operation's user: it fails when another one is signed in. Nil takes the user at its beginning.
    package var userRecordName: String?
    /// Names the writes of a zone by what they say, so that the same write of two operations with one seed is done
    /// once. The names of other zones' writes are drawn.
    package var writeSeeds: [CKRecordZoneID: IdempotencySeed] = [:]

    /// Whether it was made from what an earlier process kept of it.
    var isRestored = false

    /// The operation's identity.
    public internal(set) var operationID: ID = SystemRandomSource().nextUUID()

    /// How the operation is carried out; never nil. What is set is copied, and nil sets the default one.
    public var configuration: Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = newValue?.filled(from: nil) ?? Configuration() }
    }
    var ownConfiguration = Configuration()
    /// What the operation belongs to.
    public var group: CKOperationGroup?

    /// How urgent the operation is: the configuration's.
    open override var qualityOfService: QualityOfService {
        get { effectiveConfiguration.qualityOfService }
        set { ownConfiguration.qualityOfService = newValue }
    }

    /// What counts: the operation's own configuration, and its group's where that says nothing.
    var effectiveConfiguration: Configuration {
        guard let group else { return ownConfiguration }
        return ownConfiguration.filled(from: group.ownConfiguration)
    }

    /// Called when a long-lived operation is on the disk, before anything is sent: from here on it can be had again
    /// from `CKContainer.longLivedOperation(for:)` when the process has gone. Not called where it couldn't be kept;
    /// it runs as any other then.
    @preconcurrency public var longLivedOperationWasPersistedBlock: (@Sendable () -> Void)?

    /// Makes an operation.
    public override init() {
        super.init()
    }

    /// Called after the operation has called its last block, on the same thread.
    open override var completionBlock: (@Sendable () -> Void)? {
        get { completion }
        set { completion = newValue }
    }

    /// True: an operation goes on after `start()` returned.
    open override var isAsynchronous: Bool { true }
    /// Whether the operation was started and isn't at its end.
    open override var isExecuting: Bool { state.withLock { $0.isExecuting } }
    /// Whether the operation has called its last block.
    open override var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Whether nobody added the operation to a database or container before.
    func isFirstAdded() -> Bool {
        state.withLock { state in
            defer { state.wasAdded = true }
            return !state.wasAdded
        }
    }

    /// Starts the operation, once. Queues and databases call it.
    open override func start() {
        let isFirst = state.withLock { state in
            defer { state.wasStarted = true }
            return !state.wasStarted
        }
        guard isFirst else { return }
        willChangeValue(forKey: "isExecuting")
        state.withLock { $0.isExecuting = true }
        didChangeValue(forKey: "isExecuting")
        deliver { self.execute() }
    }

    /// Ends the operation with `CKError.operationCancelled`. What was sent may still be done by the server.
    open override func cancel() {
        super.cancel()
        if isRestored, !isExecuting { forget() }
        state.withLock { $0.cancelRunning }?()
    }

    /// The database whose cloud the operation asks.
    var target: CKDatabase {
        effectiveConfiguration.container?.privateCloudDatabase ?? defaultDatabase
            ?? CKContainer.default().privateCloudDatabase
    }

    /// Does the operation's work, and calls `finish()` at the end.
    func execute() {
        finish()
    }

    /// Sets what `cancel()` has to do while the operation runs.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        // The one before is released after the lock: it holds what runs.
        _ = state.withLock { state in
            defer { state.cancelRunning = body }
            return state.cancelRunning
        }
    }

    /// Runs `body` where the operation's blocks are called: on its serial queue, or here.
    func deliver(_ body: @escaping @Sendable () -> Void) {
        if target.core.isInline { return body() }
        let queue = serialQueue.withLock { queue in
            let existing = queue ?? DispatchQueue(label: "CKOperation \(operationID)")
            queue = existing
            return existing
        }
        queue.async(execute: body)
    }

    /// Lets go of the blocks, which won't be called any more. Called where they are called, before anybody can see
    /// that the operation is finished.
    func letBlocksGo() {
        _ = longLivedOperationWasPersistedBlock.take()
    }

    /// The operation is at its end: lets its blocks go, tells the queues, then calls `completionBlock`.
    func finish() {
        // They often hold the operation, or what made it.
        letBlocksGo()
        let completion = self.completion.take()
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        // What cancels is released after the lock: it holds what ran.
        _ = state.withLock { state in
            state.isExecuting = false
            state.isFinished = true
            defer { state.cancelRunning = nil }
            return state.cancelRunning
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
        completion?()
    }
}
