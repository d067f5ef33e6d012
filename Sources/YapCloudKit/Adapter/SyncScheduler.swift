/// Where and when the sync's work runs. The engine's adapter starts no thread and no timer by itself.
package protocol SyncScheduler: Sendable {
    /// Runs `work` soon, one piece at a time, and never inside this call: the caller may hold the database's
    /// writer.
    func perform(_ work: @escaping @Sendable () -> Void)
    /// Runs `work` at a time. It takes the place of the owner's wake before it; nil cancels that.
    func wake(_ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void)
    /// Stands between two steps of the sync, where other threads may act: no lock is held and no transaction is open. A
    /// simulation lets others go first here. Real threads need nothing.
    func yield()
}

extension SyncScheduler {
    package func yield() {}
}
