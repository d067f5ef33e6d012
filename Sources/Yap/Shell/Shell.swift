import System

/// Threads of one database: one writer and several readers, each started when first needed.
final class Shell: Sendable {
    private struct State {
        var hasWriterThread = false
        var readerThreadCount = 0
        var isClosed = false
    }

    private let state = Lock(State())
    /// Number of pending writes.
    let pendingWrites = PendingCount()
    private let writes = WorkQueue<any WriteRequest>()
    private let reads = WorkQueue<SerialJobs>()

    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Rejects new work, and ends the threads after the queued work.
    func close() {
        state.withLock { $0.isClosed = true }
        writes.close()
        reads.close()
    }

    /// Queues a write for the writing thread.
    func write(_ request: any WriteRequest, _ writer: Writer) {
        pendingWrites.begin()
        guard writes.push(request) != .refused else {
            pendingWrites.end()
            request.fail(YapDatabaseError(.closed, "the database was closed"))
            return request.resume()
        }
        let mustStart = state.withLock { state in
            defer { state.hasWriterThread = true }
            return !state.hasWriterThread
        }
        guard mustStart else { return }
        let worker = GroupWriter(queue: writes, writer: writer, pending: pendingWrites)
        do {
            try SystemThread.detach(name: "yap writer") { worker.run() }
        } catch {
            // No thread could be started. Blocking the caller is better than never resuming it.
            state.withLock { $0.hasWriterThread = false }
            worker.runOnce()
        }
    }

    /// Queues a job of a connection for one of the reading threads, of which there are as many as processors.
    func read(_ jobs: SerialJobs, _ job: @escaping SerialJobs.Job) {
        guard jobs.add(job) else { return }
        switch reads.push(jobs) {
        case .taken: return
        case .refused: while jobs.runNext() {}  // The jobs find the database closed, and throw that.
        case .needsThread: startReader()
        }
    }

    /// Runs `body` on one of the reading threads, and returns its result.
    ///
    /// - Parameters:
    ///   - jobs: The jobs of the connection.
    ///   - pending: Counts the read until it has ended.
    /// - Throws: The error of `body`; `CancellationError` if the task was cancelled before.
    func queueRead<Result: Sendable>(
        _ jobs: SerialJobs, pending: PendingCount? = nil, _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try Task.checkCancellation()
        return try await withCheckedThrowingContinuation { continuation in
            pending?.begin()
            read(jobs) {
                let result = Swift.Result { try body() }
                pending?.end()
                continuation.resume(with: result)
            }
        }
    }

    private func startReader() {
        let mayStart = state.withLock { state in
            guard state.readerThreadCount < SystemThread.processorCount else { return false }
            state.readerThreadCount += 1
            return true
        }
        guard mayStart else { return }
        let reads = reads
        do {
            try SystemThread.detach(name: "yap reader") {
                while let jobs = reads.take(max: 1)?.first { Self.serve(jobs, reads) }
            }
        } catch {
            let isOnly = state.withLock { state in
                state.readerThreadCount -= 1
                return state.readerThreadCount == 0
            }
            guard isOnly else { return }
            for jobs in reads.takeWithoutWaiting(max: .max) { while jobs.runNext() {} }
        }
    }

    /// Runs one job. If more are queued, queues this connection again behind the others.
    private static func serve(_ jobs: SerialJobs, _ reads: WorkQueue<SerialJobs>) {
        guard jobs.runNext() else { return }
        if reads.push(jobs) == .refused { while jobs.runNext() {} }
    }
}
