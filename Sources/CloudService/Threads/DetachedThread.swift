#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A thread of the operating system that runs one closure.
enum DetachedThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a new thread. False when the system has none left: the process has a limit on threads.
    static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let retained = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { pointer in
                #if canImport(Glibc)
                    guard let pointer else { return nil }
                #endif
                Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, retained.toOpaque())
        guard code == 0 else {
            retained.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Microseconds of a processor that the calling thread has used.
    @Sendable static func usedMicroseconds() -> Int {
        var time = timespec()
        guard clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 else { return 0 }
        return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
    }

    /// How many processors the system has.
    static var processorCount: Int { max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))) }
}
