public import Foundation
internal import System

/// A request to the cloud. Set its properties and blocks, then add it to a database or a container.
open class CKOperation: Operation, @unchecked Sendable {
    // Sendable because the state that changes during the run is behind a lock. The rest (blocks, inputs, configuration,
    // database) is set before the operation starts: by the app, as Apple's documentation demands, and by the `add` that
    // starts it, which traps the second time. Then it is only read, until `finish()` clears the blocks on the queue
    // that calls them.

    /// An operation's ID.
    public typealias ID = String
    /// The options of an operation.
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
    /// The database of an operation without one. Set by the container.
    var defaultDatabase: CKDatabase?
    /// The operation's user: the operation fails if another one is signed in. Nil takes the user at its beginning.
    package var userRecordName: String?
    /// Seeds for the idempotency keys of a zone's writes. The same write of two operations with one seed is executed
    /// once. Writes in other zones get random keys.
    package var writeSeeds: [CKRecordZoneID: IdempotencySeed] = [:]

    /// True if it was restored from an earlier process.
    var isRestored = false

    /// The operation's ID.
    public internal(set) var operationID: ID = SystemRandomSource().nextUUID()

    /// The options of the operation; never nil. A set value is copied, and nil sets the default options.
    public var configuration: Configuration! {
        get { ownConfiguration }
        set { ownConfiguration = newValue?.filled(from: nil) ?? Configuration() }
    }
    var ownConfiguration = Configuration()
    /// The operation's group.
    public var group: CKOperationGroup?

    /// The urgency of the operation, from its configuration.
    open override var qualityOfService: QualityOfService {
        get { effectiveConfiguration.qualityOfService }
        set { ownConfiguration.qualityOfService = newValue }
    }

    /// The operation's own configuration, completed from its group's.
    var effectiveConfiguration: Configuration {
        guard let group else { return ownConfiguration }
        return ownConfiguration.filled(from: group.ownConfiguration)
    }

    /// Called when a long-lived operation is stored, before anything is sent. From then on, a later process
    /// can restore it with `CKContainer.longLivedOperation(for:)`. Not called if it can't be stored; it then
    /// runs as a normal operation.
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

    /// True: an operation continues after `start()` has returned.
    open override var isAsynchronous: Bool { true }
    /// True if the operation has started and hasn't finished.
    open override var isExecuting: Bool { state.withLock { $0.isExecuting } }
    /// True if the operation has called its last block.
    open override var isFinished: Bool { state.withLock { $0.isFinished } }

    /// Returns true for the first call: an operation may be added once only.
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

    /// Ends the operation with `CKError.operationCancelled`. The server may still execute requests that were sent.
    open override func cancel() {
        super.cancel()
        if isRestored, !isExecuting { forget() }
        state.withLock { $0.cancelRunning }?()
    }

    /// The database of the operation.
    var target: CKDatabase {
        effectiveConfiguration.container?.privateCloudDatabase ?? defaultDatabase
            ?? CKContainer.default().privateCloudDatabase
    }

    /// Does the operation's work, and calls `finish()` at the end.
    func execute() {
        finish()
    }

    /// Sets a closure that `cancel()` calls during the run.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        // The previous closure is released after the lock, because it holds the running request.
        _ = state.withLock { state in
            defer { state.cancelRunning = body }
            return state.cancelRunning
        }
    }

    /// Runs `body` where the operation's blocks are called: on its serial queue, or on this thread.
    func deliver(_ body: @escaping @Sendable () -> Void) {
        if target.core.isInline { return body() }
        let queue = serialQueue.withLock { queue in
            let existing = queue ?? DispatchQueue(label: "CKOperation \(operationID)")
            queue = existing
            return existing
        }
        queue.async(execute: body)
    }

    /// Releases the blocks, which won't be called again. Called where they are called, before the operation appears as
    /// finished.
    func letBlocksGo() {
        _ = longLivedOperationWasPersistedBlock.take()
    }

    /// Ends the operation: releases its blocks, notifies the queues, then calls `completionBlock`.
    func finish() {
        // The blocks often hold the operation, or its creator.
        letBlocksGo()
        let completion = self.completion.take()
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        // The closure is released after the lock, because it holds the former request.
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
