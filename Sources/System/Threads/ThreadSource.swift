/// The system's threads. A test passes a source that refuses some.
package struct ThreadSource: Sendable {
    private let fault: @Sendable (_ name: String) -> Int32?

    /// Makes a source that refuses some threads.
    ///
    /// - Parameter fault: Called before each start. Returns the error number with which the start fails without
    ///   reaching the system, or nil to let it through.
    package init(fault: @escaping @Sendable (_ name: String) -> Int32?) { self.fault = fault }

    /// The source that refuses none.
    package static let system = ThreadSource { _ in nil }

    /// Starts a thread, as `SystemThread.init`. `join` or `detach` must follow.
    ///
    /// - Throws: `SystemThread.NotStarted`. Then `body` never runs.
    package func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemThread.NotStarted) -> SystemThread {
        if let code = fault(name) { throw SystemThread.NotStarted(code: code) }
        return try SystemThread(name: name, body)
    }
}
