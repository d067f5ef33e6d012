#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An operating system thread that runs one closure. For code that blocks, which must not run on Swift's
/// cooperative pool.
package struct SystemThread: Sendable {
    /// The system couldn't start a thread, for example because the process has reached its limit of threads.
    package struct NotStarted: Error, Hashable, Sendable, CustomStringConvertible {
        /// The system's error number.
        package let code: Int32

        /// The system's text for the error number.
        package var description: String { "no thread could be started: \(String(cString: strerror(code)))" }
    }

    private final class Body: Sendable {
        let name: String
        let run: @Sendable () -> Void

        init(_ name: String, _ run: @escaping @Sendable () -> Void) { (self.name, self.run) = (name, run) }
    }

    private let thread: pthread_t

    /// Starts a thread. Call `join` or `detach` afterwards.
    ///
    /// - Parameters:
    ///   - name: The thread's name in debuggers and `top`. Linux shows its first 15 bytes.
    ///   - stackBytes: Bytes of the stack, or nil for the system's default.
    ///   - body: Runs on the thread.
    /// - Throws: `NotStarted`. Then `body` is released and never runs.
    package init(
        name: String, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(NotStarted) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stackBytes { pthread_attr_setstacksize(&attributes, stackBytes) }
        let body = Unmanaged.passRetained(Body(name, body))
        #if canImport(Glibc)
            var thread = pthread_t()
        #else
            var thread: pthread_t?
        #endif
        let code = pthread_create(&thread, &attributes, runBody, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw NotStarted(code: code)
        }
        #if canImport(Glibc)
            self.thread = thread
        #else
            guard let thread else { throw NotStarted(code: EAGAIN) }
            self.thread = thread
        #endif
    }

    /// Starts a thread that is never joined. Parameters and errors: see `init`.
    package static func detach(
        name: String, stackBytes: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(NotStarted) {
        try SystemThread(name: name, stackBytes: stackBytes, body).detach()
    }

    /// Waits until the thread has ended. Call it once, and not on the thread itself.
    package func join() { pthread_join(thread, nil) }

    /// Detaches the thread, which is then never joined.
    package func detach() { pthread_detach(thread) }

    /// True if the calling code runs on this thread.
    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Number of processors of the machine, at least 1.
    package static let processorCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))

    /// Returns the CPU time of the calling thread in microseconds.
    @Sendable package static func usedMicroseconds() -> Int {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    fileprivate static func run(_ context: UnsafeMutableRawPointer) {
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        #if canImport(Glibc)
            // Swift doesn't import `pthread_setname_np`, an extension of Glibc.
            try? OpenFile("/proc/thread-self/comm", .updating).write(body.name.utf8.prefix(15))
        #else
            pthread_setname_np(body.name)
        #endif
        body.run()
    }
}

#if canImport(Glibc)
    private func runBody(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        if let context { SystemThread.run(context) }
        return nil
    }
#else
    private func runBody(_ context: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
        SystemThread.run(context)
        return nil
    }
#endif
