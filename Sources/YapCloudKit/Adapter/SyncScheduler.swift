/// Decides where and when the sync's work runs. The engine's adapter starts no thread and no timer itself.
package protocol SyncScheduler: Sendable {
    /// Runs `work` soon, one piece at a time, and never inside this call: the caller may hold the database's writer.
    func perform(_ work: @escaping @Sendable () -> Void)
    /// Runs `work` at a time. It replaces the owner's previous wake; nil cancels that.
    func wake(_ owner: ObjectIdentifier, atMilliseconds: Int64?, _ work: @escaping @Sendable () -> Void)
    /// Called between two steps of the sync, with no lock held and no transaction open. A simulation runs other threads
    /// here. Real threads need nothing.
    func yield()
}

extension SyncScheduler {
    package func yield() {}
}
