import CCurl
import Foundation
import System

/// libcurl's multi handle, and the only thread that uses it.
final class CurlLoop: @unchecked Sendable {
    // Sendable because the inbox's lock protects the shared state. The properties below it are used only by
    // the loop's thread, which starts after they are set. Other threads use `multi` only for
    // curl_multi_wakeup, which libcurl allows, and only while the inbox says that the loop is waiting.

    typealias Completion = @Sendable (Result<HTTPClientResponse, HTTPClientError>) -> Void

    private struct Inbox {
        enum Life {
            case unborn, running(SystemThread), stopping(SystemThread), ended
        }

        var life = Life.unborn
        var starts: [CurlTransfer] = []
        var cancels: [UInt64] = []
        /// Number of requests that haven't ended.
        var openCount = 0
        var lastID: UInt64 = 0
        /// True if the loop is in poll or about to be, and hasn't been woken.
        var isAsleep = false

        var isStopping: Bool {
            if case .stopping = life { true } else { false }
        }
    }

    /// Maximum milliseconds of one poll when nothing is due.
    private static let pollMillisecondsMax: Int64 = 60_000

    private let options: HTTPClientOptions
    private let inbox = Lock(Inbox())

    private var multi: UnsafeMutableRawPointer?
    /// Running requests by their ids.
    private var running: [UInt64: CurlTransfer] = [:]
    /// Pending requests in order.
    private var waiting: [CurlTransfer] = []

    init(options: HTTPClientOptions) {
        self.options = options
    }

    // MARK: From any thread

    /// Adds a request to the inbox.
    /// - Returns: Its id, or nil if it was rejected, and `completion` called.
    func start(_ request: HTTPClientRequest, _ completion: @escaping Completion) -> UInt64? {
        if let problem = request.problem {
            completion(.failure(HTTPClientError(.invalidRequest, "The request can't be sent: \(problem).")))
            return nil
        }
        let transfer = CurlTransfer(
            request, startedMilliseconds: options.clock.elapsedMilliseconds(), completion: completion)
        let refusal = inbox.withLock { inbox in admit(transfer, &inbox) }
        guard let refusal else { return transfer.id }
        completion(.failure(refusal))
        return nil
    }

    private func admit(_ transfer: CurlTransfer, _ inbox: inout Inbox) -> HTTPClientError? {
        switch inbox.life {
        case .stopping, .ended: return HTTPClientError(.stopped, "The client was stopped.")
        case .running: break
        case .unborn:
            guard let thread = makeThread() else {
                return HTTPClientError(.internalError, "The client's thread couldn't be made.")
            }
            inbox.life = .running(thread)
        }
        guard inbox.openCount < options.transfersMax + options.waitingMax else {
            return HTTPClientError(.tooManyWaiting, "\(inbox.openCount) requests are running or queued.")
        }
        inbox.openCount += 1
        inbox.lastID += 1
        transfer.id = inbox.lastID
        inbox.starts.append(transfer)
        wake(&inbox)
        return nil
    }

    func cancel(_ id: UInt64) {
        inbox.withLock { inbox in
            guard case .running = inbox.life else { return }
            inbox.cancels.append(id)
            wake(&inbox)
        }
    }

    func stop() {
        let thread: SystemThread? = inbox.withLock { inbox in
            switch inbox.life {
            case .unborn:
                inbox.life = .ended
                return nil
            case .running(let thread):
                inbox.life = .stopping(thread)
                wake(&inbox)
                return thread
            case .stopping, .ended: return nil
            }
        }
        guard let thread else { return }
        if thread.isCurrent { thread.detach() } else { thread.join() }
    }

    private func wake(_ inbox: inout Inbox) {
        guard inbox.isAsleep else { return }
        inbox.isAsleep = false
        // Under the lock, so that the loop can't end and free the handle meanwhile.
        curl_multi_wakeup(multi)
    }

    // MARK: The loop's thread

    private func makeThread() -> SystemThread? {
        guard CurlLibrary.isReady, let multi = curl_multi_init() else { return nil }
        self.multi = multi
        yap_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, options.idleConnectionsMax)
        let thread = try? SystemThread(name: "yap curl") { [self] in
            // With NOSIGNAL, libcurl doesn't handle SIGPIPE, and OpenSSL's writes raise it.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            run()
        }
        if thread != nil { return thread }
        curl_multi_cleanup(multi)
        self.multi = nil
        return nil
    }

    private func run() {
        while takeInbox() {
            startWaiting()
            var runningCount: Int32 = 0
            curl_multi_perform(multi, &runningCount)
            endDone()
            endSilent()
            startWaiting()
            guard fallAsleep() else { continue }
            curl_multi_poll(multi, nil, 0, Int32(clamping: pollMilliseconds()), nil)
            inbox.withLock { $0.isAsleep = false }
        }
        tearDown()
    }

    /// Takes the requests from the inbox. Returns false if the loop must end.
    private func takeInbox() -> Bool {
        let (starts, cancels, isStopping) = inbox.withLock { inbox in
            defer {
                inbox.starts = []
                inbox.cancels = []
            }
            return (inbox.starts, inbox.cancels, inbox.isStopping)
        }
        waiting += starts
        for id in cancels { cancelled(id) }
        return !isStopping
    }

    /// Returns true if the inbox is still empty. Other threads then have to wake the loop.
    private func fallAsleep() -> Bool {
        inbox.withLock { inbox in
            inbox.isAsleep = inbox.starts.isEmpty && inbox.cancels.isEmpty && !inbox.isStopping
            return inbox.isAsleep
        }
    }

    private func pollMilliseconds() -> Int64 {
        // libcurl itself handles the deadlines of running requests.
        let deadline = [
            waiting.lazy.compactMap(\.waitEndsMilliseconds).min(),
            running.values.lazy.compactMap(\.silenceEndsMilliseconds).min(),
        ].compactMap { $0 }.min()
        guard let deadline else { return Self.pollMillisecondsMax }
        return min(Self.pollMillisecondsMax, max(0, deadline - options.clock.elapsedMilliseconds()))
    }

    private func cancelled(_ id: UInt64) {
        let error = HTTPClientError(.cancelled, "The request was cancelled.")
        if let transfer = running[id] {
            finish(transfer, .failure(error))
        } else if let index = waiting.firstIndex(where: { $0.id == id }) {
            finish(waiting.remove(at: index), .failure(error))
        }
    }

    private func startWaiting() {
        guard !waiting.isEmpty else { return }
        let now = options.clock.elapsedMilliseconds()
        var late: [CurlTransfer] = []
        waiting.removeAll { transfer in
            guard let end = transfer.waitEndsMilliseconds, end <= now else { return false }
            late.append(transfer)
            return true
        }
        for transfer in late {
            finish(
                transfer,
                .failure(
                    HTTPClientError(.timedOut, "The time was over while the request waited for a place.")))
        }
        let startedCount = max(0, min(waiting.count, options.transfersMax - running.count))
        let starting = waiting.prefix(startedCount)
        waiting.removeFirst(startedCount)
        for transfer in starting { start(transfer, nowMilliseconds: now) }
    }

    /// Ends requests that have made no progress for too long.
    private func endSilent() {
        guard !running.isEmpty else { return }
        let now = options.clock.elapsedMilliseconds()
        let silent = running.values.filter { $0.isSilent(nowMilliseconds: now) }.sorted { $0.id < $1.id }
        for transfer in silent { finish(transfer, .failure(transfer.silence)) }
    }

    private func start(_ transfer: CurlTransfer, nowMilliseconds: Int64) {
        // Each request has its own handle, which takes a microsecond more: before 8.1 libcurl appends a first header
        // that begins with a blank to one of the handle's last response, which is freed
        // (https://curl.se/changes.html#8_1_0, "headers: clear (possibly) lingering pointer in init"). The
        // connections belong to the multi handle.
        guard let handle = curl_easy_init() else {
            return finish(transfer, .failure(HTTPClientError(.internalError, "libcurl has no memory.")))
        }
        transfer.prepare(handle, options: options, nowMilliseconds: nowMilliseconds)
        running[transfer.id] = transfer
        let code = curl_multi_add_handle(multi, handle)
        guard code != CURLM_OK else { return }
        let words = String(cString: curl_multi_strerror(code))
        finish(transfer, .failure(HTTPClientError(.internalError, "libcurl refuses the request: \(words)")))
    }

    private func endDone() {
        var code = CURLE_OK
        while let handle = yap_curl_multi_next_done(multi, &code) {
            var context: UnsafeMutableRawPointer?
            yap_curl_get_private(handle, &context)
            guard let context else { continue }
            let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
            finish(transfer, transfer.result(code))
        }
    }

    /// Removes the request from all lists, then calls its completion. Only this method does that.
    private func finish(_ transfer: CurlTransfer, _ result: Result<HTTPClientResponse, HTTPClientError>) {
        transfer.close(in: multi)
        running[transfer.id] = nil
        inbox.withLock { $0.openCount -= 1 }
        transfer.complete(result)
    }

    private func tearDown() {
        let error = HTTPClientError(.stopped, "The client was stopped.")
        let open = running.values.sorted { $0.id < $1.id } + waiting
        waiting = []
        for transfer in open { finish(transfer, .failure(error)) }
        // From here on no thread wakes the loop, so the handle can be freed.
        inbox.withLock { $0.life = .ended }
        curl_multi_cleanup(multi)
        multi = nil
    }
}

/// Initialization of libcurl, once in a process.
enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
