/// The thread of one owner: it starts up to once, together with others, and any thread can wait for its end.
package final class OwnedThread: Sendable {
    private enum Life {
        case new
        case running(SystemThread)
        case joining
        case ended
    }

    private let name: String
    private let life = Monitor(Life.new)
    private let changed = Condition()

    /// Makes the owner of a thread that isn't started.
    ///
    /// - Parameter name: As of `SystemThread`.
    package init(name: String) { self.name = name }

    deinit {
        if case .running(let thread) = life.withLock({ $0 }) { thread.detach() }
    }

    /// Starts the thread. `body` runs once all threads of `start` have been started.
    ///
    /// - Throws: `SystemThread.NotStarted`. Then it can be started again.
    package func start(
        _ start: ThreadStart, _ body: @escaping @Sendable () -> Void
    ) throws(SystemThread.NotStarted) {
        precondition(!hasStarted, "an owner's thread starts once")
        let thread = try start.begin(self, name: name, body)
        life.withLock { $0 = .running(thread) }
    }

    /// False before the start, and after a start that was taken back.
    package var hasStarted: Bool {
        life.withLock { if case .new = $0 { false } else { true } }
    }

    /// Returns when the thread has ended and released its body; at once if it isn't started. Not on the thread itself.
    package func waitForEnd() { waitForEnd(then: .ended) }

    /// Waits for a thread whose start was taken back. Then it can be started again.
    fileprivate func takeBack() { waitForEnd(then: .new) }

    private func waitForEnd(then next: Life) {
        let thread = life.withLock { life -> SystemThread? in
            guard case .running(let thread) = life else { return nil }
            life = .joining
            return thread
        }
        guard let thread else {
            // Another caller may be waiting.
            return life.wait(on: changed) { if case .joining = $0 { nil } else { () } }
        }
        thread.join()
        life.withLock { $0 = next }
        changed.broadcast()
    }
}

/// Starts several threads: all of them run, or none does.
package final class ThreadStart: Sendable {
    private let source: ThreadSource
    /// True once all threads have been started; false if one could not be; nil until then.
    private let isComplete = Monitor(Bool?.none)
    private let changed = Condition()
    private let begun = Lock([OwnedThread]())

    private init(_ source: ThreadSource) { self.source = source }

    /// Starts the threads that `body` starts with its argument. They wait until `body` has returned, and run then. If
    /// `body` throws, they end without having run anything, and can be started again.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws: `SystemThread.NotStarted` if a thread can't be started.
    package static func all<Result>(
        from source: ThreadSource = .system, _ body: (ThreadStart) throws -> Result
    ) throws -> Result {
        let start = ThreadStart(source)
        do {
            let result = try body(start)
            start.end(isComplete: true)
            return result
        } catch {
            for thread in start.end(isComplete: false) { thread.takeBack() }
            throw error
        }
    }

    fileprivate func begin(
        _ owner: OwnedThread, name: String, _ body: @escaping @Sendable () -> Void
    ) throws(SystemThread.NotStarted) -> SystemThread {
        let thread = try source.start(name: name) { [self] in
            if isComplete.wait(on: changed, until: { $0 }) { body() }
        }
        begun.withLock { $0.append(owner) }
        return thread
    }

    /// Lets the threads run, or end.
    ///
    /// - Returns: The threads.
    @discardableResult
    private func end(isComplete: Bool) -> [OwnedThread] {
        self.isComplete.withLock { $0 = isComplete }
        changed.broadcast()
        return begun.withLock { begun in
            defer { begun = [] }
            return begun
        }
    }
}
