/// Notices the commits of all processes to a file, as they are made.
package final class DatabaseFileWatch: Sendable {
    private let signal: ProcessSignal

    /// Begins to watch. Creates the small file beside the database through which processes notify each other.
    ///
    /// - Parameters:
    ///   - path: The database's file.
    ///   - observer: Called after commits, on a queue of its own. Commits that follow closely may share a call.
    /// - Throws: `YapDatabaseError` of code `cannotOpen` if the small file can't be created, or the system has no watch
    ///   to give.
    package init(path: String, _ observer: @escaping @Sendable () -> Void) throws {
        signal = ProcessSignal(path: path + "-notify")
        guard signal.watch({ _ in observer() }) else {
            throw YapDatabaseError(.cannotOpen, "\(path)-notify can't be created or watched")
        }
    }

    /// Ends the watch. A call that is under way may still end after this.
    package func end() { signal.end() }
}
