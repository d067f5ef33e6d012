/// What a runner of actions does: what runs, what is next, and why it isn't started yet.
public struct YapDatabaseActionStatus: Sendable {
    /// Why an action isn't started.
    public enum Obstacle: Hashable, Sendable {
        /// Its date, or that of its retry, is in the future.
        case date
        /// It requires the network, which isn't reachable.
        case network
        /// It is due, and the maximum number of actions is running.
        case runningMax
        /// The runner is suspended.
        case suspended
        /// `run` isn't under way.
        case notRunning
        /// The file is busy or its disk is full, or another process fills the table. It is tried again.
        case database
    }

    /// The actions that are running, in the order of their starts.
    public var running: [YapDatabaseActionID] = []
    /// The first action in the order of the next starts that isn't running, or nil.
    public var next: YapDatabaseScheduledAction?
    /// Why `next` isn't started, or why nothing can be started at all. Nil if there is nothing to start.
    public var obstacle: Obstacle?
    /// The last error that a handler threw, with its action; also `decoding` of an object that can't be read.
    public var lastFailure: Failure?
    /// The snapshot of the database that was read last.
    public var snapshot: UInt64 = 0

    /// An action that failed. It is started again after its retry time.
    public struct Failure: Sendable {
        /// The action.
        public let id: YapDatabaseActionID
        /// The error.
        public let error: any Error
    }
}
