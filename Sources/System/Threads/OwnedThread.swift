/// The thread of one owner. It is started once, together with others, and any thread can wait for its end.
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

    /// Makes the owner of a thread that isn't started yet.
    ///
    /// - Parameter name: Name of the thread. See `SystemThread`.
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

    /// True after a start. False before it, and after a start that was undone.
    package var hasStarted: Bool {
        life.withLock { if case .new = $0 { false } else { true } }
    }

    /// Waits until the thread has ended and released its body. Returns at once if it isn't started. Must not
    /// be called on the thread itself.
    package func waitForEnd() { waitForEnd(then: .ended) }

    /// Waits for the end of a thread whose start was undone. Then it can be started again.
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

/// Starts several threads: either all of them run, or none.
package final class ThreadStart: Sendable {
    private let source: ThreadSource
    /// True after all threads were started, false if a thread couldn't be started, nil until then.
    private let isComplete = Monitor(Bool?.none)
    private let changed = Condition()
    private let begun = Lock([OwnedThread]())

    private init(_ source: ThreadSource) { self.source = source }

    /// Starts the threads that `body` starts with its argument. They wait until `body` has returned, and then
    /// run. If `body` throws, they end without running anything, and can be started again.
    ///
    /// - Returns: The result of `body`.
    /// - Throws: The error of `body`: `SystemThread.NotStarted` if a thread can't be started.
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

    /// Makes the threads run or end.
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
