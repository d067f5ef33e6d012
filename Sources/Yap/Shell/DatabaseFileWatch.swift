/// Reports commits of all processes to one database. They notify each other through a file (`ProcessSignal`).
package final class DatabaseFileWatch: Sendable {
    private let signal: ProcessSignal

    /// Starts watching. Creates the small file beside the database through which processes notify each other.
    ///
    /// - Parameters:
    ///   - path: The database's file.
    ///   - observer: Called after commits, on a queue of its own. Commits in quick succession may share a call.
    /// - Throws: `YapDatabaseError` with `cannotOpen` if the small file can't be created, or the system has no
    ///   watches left.
    package init(path: String, _ observer: @escaping @Sendable () -> Void) throws {
        signal = ProcessSignal(path: path + "-notify")
        guard signal.watch({ _ in observer() }) else {
            throw YapDatabaseError(.cannotOpen, "\(path)-notify can't be created or watched")
        }
    }

    /// Ends the watch. A call that is running may finish after this returns.
    package func end() { signal.end() }
}
