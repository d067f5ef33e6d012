/// State of a runner of actions: which actions are running, which is next, and why it hasn't started.
public struct YapDatabaseActionStatus: Sendable {
    /// Why an action hasn't started.
    public enum Obstacle: Hashable, Sendable {
        /// Its date, or that of its retry, is in the future.
        case date
        /// It requires the network, which isn't reachable.
        case network
        /// It is due, and the maximum number of actions is running.
        case runningMax
        /// The runner is suspended.
        case suspended
        /// `run` isn't running.
        case notRunning
        /// The file is busy or its disk is full, or another process is filling the table. The runner retries.
        case database
    }

    /// The actions that are running, in the order of their starts.
    public var running: [YapDatabaseActionID] = []
    /// The first action in the order of the next starts that isn't running, or nil.
    public var next: YapDatabaseScheduledAction?
    /// Why `next` hasn't started, or why nothing can start. Nil if there is nothing to start.
    public var obstacle: Obstacle?
    /// The last error of a handler, with its action. Also `decoding` for an object that can't be read.
    public var lastFailure: Failure?
    /// The snapshot that was read last.
    public var snapshot: UInt64 = 0

    /// An action that failed. It is started again after its retry time.
    public struct Failure: Sendable {
        /// The action.
        public let id: YapDatabaseActionID
        /// The error.
        public let error: any Error
    }
}
