/// Starts the system's threads. A test uses a source that can fail.
package struct ThreadSource: Sendable {
    private let fault: @Sendable (_ name: String) -> Int32?

    /// Makes a source that can fail.
    ///
    /// - Parameter fault: Called before each start. Returns the error number for a start that fails without
    ///   reaching the system, or nil to start the thread.
    package init(fault: @escaping @Sendable (_ name: String) -> Int32?) { self.fault = fault }

    /// The source that starts all threads.
    package static let system = ThreadSource { _ in nil }

    /// Starts a thread, as `SystemThread.init`. Call `join` or `detach` afterwards.
    ///
    /// - Throws: `SystemThread.NotStarted`. Then `body` never runs.
    package func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemThread.NotStarted) -> SystemThread {
        if let code = fault(name) { throw SystemThread.NotStarted(code: code) }
        return try SystemThread(name: name, body)
    }
}
