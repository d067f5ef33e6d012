import CloudWire
import Dispatch
import Seams

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The shell around a service for callers that must not wait: one thread of its own that answers all requests
/// that have come in while it was busy as one group, so that they share one write to the disk.
public final class CloudServiceThread: Sendable {
    private let loop: ServiceLoop

    /// Starts the thread.
    public init(_ service: CloudService) {
        loop = ServiceLoop(service)
        ServiceLoop.start(loop)
    }

    deinit { loop.askToEnd() }

    /// Hands a request in. `completion` is called on the service's thread, when what was written is on disk.
    ///
    /// The request is read on the calling thread. After `stop` the answer is TRY_AGAIN_LATER.
    public func send(_ request: WireRequest, completion: @escaping @Sendable (WireResponse) -> Void) {
        loop.send(request, completion: completion)
    }

    /// Answers what has come in, ends the thread, and returns when it has ended. Must not be called in a
    /// completion.
    public func stop() {
        loop.askToEnd()
        loop.waitForEnd()
    }
}

private final class ServiceLoop: Sendable {
    private struct State {
        var completions: [ServiceTicket: @Sendable (WireResponse) -> Void] = [:]
        var isEnding = false
    }

    private let service: CloudService
    private let state = Lock(State())
    /// Counts up for each request and for the wish to end.
    private let work = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    init(_ service: CloudService) {
        self.service = service
    }

    static func start(_ loop: ServiceLoop) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        defer { pthread_attr_destroy(&attributes) }
        var thread = pthread_t()
        let code = pthread_create(
            &thread, &attributes,
            { pointer in
                #if canImport(Glibc)
                    guard let pointer else { return nil }
                #endif
                Unmanaged<ServiceLoop>.fromOpaque(pointer).takeRetainedValue().run()
                return nil
            }, Unmanaged.passRetained(loop).toOpaque())
        precondition(code == 0, "pthread_create failed with \(code)")
    }

    func send(_ request: WireRequest, completion: @escaping @Sendable (WireResponse) -> Void) {
        let prepared = service.prepare(request)
        let isAccepted = state.withLock { state in
            if state.isEnding { return false }
            // Under the lock, so that the answer can't come before there is somebody to take it.
            state.completions[service.begin(prepared)] = completion
            return true
        }
        if isAccepted {
            work.signal()
        } else {
            let error = ServiceError.tryAgainLater(
                "the service is stopping", retryAfterSeconds: ServiceFailure.retryAfterSeconds)
            completion(service.response(to: prepared, answer: .error(error)))
        }
    }

    func askToEnd() {
        state.withLock { $0.isEnding = true }
        work.signal()
    }

    func waitForEnd() {
        ended.wait()
        // Whoever else waits, or waits again, finds it ended too.
        ended.signal()
    }

    private func run() {
        var isEnding = false
        while !isEnding {
            work.wait()
            isEnding = state.withLock { $0.isEnding }
            answerAll()
        }
        ended.signal()
    }

    private func answerAll() {
        while true {
            let answers = service.commitGroup()
            if answers.isEmpty { return }
            for (ticket, response) in answers {
                let completion = state.withLock { $0.completions.removeValue(forKey: ticket) }
                completion?(response)
            }
        }
    }
}
