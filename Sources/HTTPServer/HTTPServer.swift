import CLinux
import Glibc
import Synchronization
import System

/// A strict HTTP/1.1 server: one epoll event loop per core calls a handler.
public final class HTTPServer: Sendable {
    private struct State {
        var isStarted = false
        var port = 0
        var mailboxes = [EventLoopMailbox]()
        var threads = [OwnedThread]()
        var connectionCount: (@Sendable () -> Int)?
        var tls: TLSCurrent?
    }

    private let options: HTTPServerOptions
    private let handler: any HTTPHandler
    private let state = Lock(State())
    /// Held while threads are joined, so that a second `stop` returns after the first.
    private let stopping = Lock(())

    /// Makes a server. It doesn't listen before `start`.
    public init(options: HTTPServerOptions, handler: any HTTPHandler) {
        self.options = options
        self.handler = handler
    }

    deinit {
        for mailbox in state.withLock({ $0.mailboxes }) { mailbox.post(.stop(graceMilliseconds: 0)) }
    }

    /// Listens and serves on threads of its own. Returns when connections are accepted. After an error the port is
    /// free, and the server can be started again.
    ///
    /// - Throws: `HTTPServerError` when the port is taken, a TLS file is invalid or a system call fails.
    public func start() throws {
        try state.withLock { state in
            guard !state.isStarted else { throw HTTPServerError.alreadyStarted }
            let shared = SharedServerState(
                options: options, handler: handler, tls: try options.tls.map(TLSCurrent.init))
            let (descriptors, port) = try Listener.open(
                host: options.host, port: options.port, count: max(1, options.loopCount))
            let loops = try Self.loops(shared, descriptors)
            do {
                state.threads = try ThreadStart.all(from: options.threads) { start in
                    try loops.map { try startThread($0, start) }
                }
            } catch {
                for loop in loops { loop.mailbox.close() }
                throw error
            }
            state.mailboxes = loops.map(\.mailbox)
            state.tls = shared.tls
            state.connectionCount = { shared.connectionCount.load(ordering: .relaxed) }
            state.isStarted = true
            state.port = port
        }
    }

    /// Makes an event loop for each listening socket, which takes it over.
    private static func loops(_ shared: SharedServerState, _ listeners: [Int32]) throws -> [EventLoop] {
        var loops = [EventLoop]()
        for (index, listener) in listeners.enumerated() {
            var mailbox: EventLoopMailbox?
            do {
                let made = try EventLoopMailbox()
                mailbox = made
                loops.append(try EventLoop(mailbox: made, shared: shared, listener: listener))
            } catch {
                // A loop that failed has closed its own socket. The sockets of the remaining loops are closed here.
                for rest in listeners[(mailbox == nil ? index : index + 1)...] { close(rest) }
                mailbox?.close()
                for loop in loops { loop.mailbox.close() }
                throw error
            }
        }
        return loops
    }

    /// The listening port, or 0 before `start`.
    public var port: Int { state.withLock { $0.port } }

    /// Number of open connections.
    public var connectionCount: Int { state.withLock { $0.connectionCount }?() ?? 0 }

    /// Reads the TLS files again, for new connections. Blocks while it reads. Does nothing without TLS and before
    /// `start`.
    ///
    /// - Throws: `HTTPServerError` when a file is invalid. Then the former files stay in use.
    public func reloadTLS() throws {
        try state.withLock { $0.tls }?.reload()
    }

    /// Stops accepting, answers the requests in progress with `Connection: close`, closes idle connections, and closes
    /// the rest after the grace period. Returns when all threads have ended and all descriptors are closed. It blocks,
    /// so it must not be called on an event loop (in a handler). A stopped server can't start again.
    public func stop(graceMilliseconds: Int) {
        stopping.withLock { _ in
            let (mailboxes, threads) = state.withLock { state in
                defer { state.threads = [] }
                return (state.mailboxes, state.threads)
            }
            guard !threads.isEmpty else { return }
            for mailbox in mailboxes { mailbox.post(.stop(graceMilliseconds: graceMilliseconds)) }
            handler.stopping()
            for thread in threads { thread.waitForEnd() }
        }
    }
}

/// Passes an event loop to its thread.
private final class LoopStart: @unchecked Sendable {
    // Sendable because the thread that makes it releases the loop before the other one runs it.
    let loop: EventLoop
    init(_ loop: EventLoop) { self.loop = loop }
}

private func startThread(_ loop: EventLoop, _ start: ThreadStart) throws -> OwnedThread {
    let handed = LoopStart(loop)
    let thread = OwnedThread(name: "yap http")
    do {
        try thread.start(start) {
            // SIGPIPE of a disconnected client must not end the process, and signals are for the program's
            // own threads.
            var signals = sigset_t()
            sigfillset(&signals)
            for fault in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT] { sigdelset(&signals, fault) }
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            handed.loop.run()
        }
        return thread
    } catch {
        throw HTTPServerError.system("pthread_create", error.code)
    }
}
