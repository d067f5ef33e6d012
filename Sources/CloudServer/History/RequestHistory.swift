import CloudWire
import Dispatch
import HTTPServer
import SQLite
import System

/// Stores the requests of the last days, in a file that nothing else depends on.
///
/// Requests add their summaries without blocking. A thread writes them once a second, or earlier if there are
/// many. If they arrive faster than they can be written, or writing fails, they are dropped and counted.
final class RequestHistory: ThreadOwner {
    /// Maximum entries in the queue. Their bytes are limited by an estimate.
    static let entriesMax = 8_192
    static let bytesMax = 8 << 20
    /// Number of entries that are written before the second is over.
    private static let batchEntries = 1_000
    private static let batchMilliseconds: Int64 = 1_000
    private static let retryMilliseconds: Int64 = 5_000
    /// Interval at which the running time is stored, even without other writes.
    private static let runMilliseconds: Int64 = 60_000

    private struct Waiting {
        var entries: [(summary: HTTPExchangeSummary, timeMilliseconds: Int64)] = []
        var bytes = 0
        var removals: [HistoryPlace] = []
        /// Signalled when all entries above are written.
        var askers: [DispatchSemaphore] = []
        var isEnding = false
    }

    private let path: String
    private let options: HistoryOptions
    private let clock: any TimeSource
    private let log: ServerLog?
    private let startMilliseconds: Int64
    private let waiting = Lock(Waiting())
    private let dropped = Lock(0)
    private let failedReads = Lock(HourlyLimit(max: 600))
    /// Rung when there is work, and when it must be done immediately.
    private let alarm = Alarm()
    private let hurry = Alarm()
    private let thread = OwnedThread(name: "yap history")
    /// As the initializer's `isThere`. Released once it was used.
    private let isThere: Lock<(@Sendable (HistoryPlace) -> Bool)?>
    /// Signalled after the thread's first attempt to open the file.
    private let opening = DispatchSemaphore(value: 0)
    /// The connection for reading. One thread reads at a time.
    private let reader = Lock<Reader>(Reader())

    private struct Reader {
        var file: HistoryFile?
    }

    /// - Parameter isThere: whether there still is such an environment. What the file has of others goes at the start.
    init(
        path: String, _ options: HistoryOptions, clock: any TimeSource, log: ServerLog?,
        isThere: @escaping @Sendable (HistoryPlace) -> Bool = { _ in true }
    ) {
        self.path = path
        self.options = options
        self.clock = clock
        self.log = log
        startMilliseconds = clock.nowMilliseconds()
        self.isThere = Lock(isThere)
    }

    /// Starts the thread, which makes the file. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in run() }
    }

    /// Number of requests dropped since the start.
    var droppedCount: Int { dropped.withLock { $0 } }

    /// Adds a request. Doesn't block.
    func add(_ summary: HTTPExchangeSummary) {
        let note = summary.note
        if note?.isEmptyPoll == true { return }
        let now = clock.nowMilliseconds()
        if let note = note?.ofOperator, !keeps(note, status: summary.status, now) { return }
        let bytes = Self.weight(of: summary)
        let (isTaken, isFirst, isMany) = waiting.withLock { waiting in
            guard !waiting.isEnding, waiting.entries.count < Self.entriesMax,
                waiting.bytes + bytes <= Self.bytesMax
            else { return (false, false, false) }
            waiting.entries.append((summary, now))
            waiting.bytes += bytes
            return (true, waiting.entries.count == 1, waiting.entries.count == Self.batchEntries)
        }
        if !isTaken { dropped.withLock { $0 += 1 } }
        if isFirst { alarm.ring() }
        if isMany { hurry.ring() }
    }

    /// Deletes the rows of an environment, asynchronously.
    func remove(_ place: HistoryPlace) {
        waiting.withLock { $0.removals.append(place) }
        alarm.ring()
    }

    /// Waits until all entries added before are written or dropped.
    func settle() {
        let done = DispatchSemaphore(value: 0)
        let isEnding = waiting.withLock { waiting in
            if !waiting.isEnding { waiting.askers.append(done) }
            return waiting.isEnding
        }
        guard !isEnding else { return }
        alarm.ring()
        hurry.ring()
        done.wait()
    }

    /// Reads the file. It blocks for its own I/O. It doesn't wait for the writing thread, except at the start
    /// until the file exists.
    ///
    /// - Throws: the error of `body`, or `SQLiteError` if the file can't be read.
    func read<Result>(_ body: (HistoryFile) throws -> Result) throws -> Result {
        opening.wait()
        opening.signal()
        return try reader.withLock { reader in
            do {
                let file = try reader.file ?? HistoryFile(reading: path)
                reader.file = file
                return try file.connection.transaction(.deferred) { try body(file) }
            } catch {
                // The file may have been replaced since it was opened.
                reader.file = nil
                throw error
            }
        }
    }

    /// Returns the server's runs known to the file, including the current one until now.
    ///
    /// - Throws: as `read`.
    func runs(from milliseconds: Int64) throws -> [HistoryRun] {
        let before = try read { try $0.runs(from: milliseconds) }.filter { $0.start != startMilliseconds }
        return before + [HistoryRun(start: startMilliseconds, end: clock.nowMilliseconds())]
    }

    /// Writes the remaining entries, and closes the file.
    func stop() {
        waiting.withLock { $0.isEnding = true }
        alarm.ring()
        hurry.ring()
        thread.waitForEnd()
        reader.withLock { $0.file = nil }
    }

    /// Returns true if an administrator's request is stored. A page that repeats failing or throttled
    /// requests must not displace requests of apps.
    private func keeps(_ note: OperatorNote, status: Int, _ now: Int64) -> Bool {
        if status == 429 { return false }
        return note.isKept || status >= 400 && failedReads.withLock { $0.takes(atMilliseconds: now) }
    }

    /// Approximate bytes of an entry in memory.
    private static func weight(of summary: HTTPExchangeSummary) -> Int {
        let detail = summary.note?.service.detail
        return 1_024 + summary.path.utf8.count + 512 * (detail?.records.count ?? 0)
            + 256 * ((detail?.fetches.count ?? 0) + (detail?.query?.filters.count ?? 0))
    }

    // MARK: On the thread

    /// Returns when the file is closed.
    private func run() {
        var file = open()
        opening.signal()
        if let opened = file, let isThere = isThere.withLock({ $0.take() }) { forget(opened, isThere) }
        var lastTry = clock.nowMilliseconds()
        var lastRun: Int64?
        var isEnding = false
        while !isEnding {
            if lastRun != nil { alarm.wait(milliseconds: Self.runMilliseconds) }
            if !waiting.withLock({ $0.isEnding || !$0.askers.isEmpty || $0.entries.isEmpty }) {
                hurry.wait(milliseconds: Self.batchMilliseconds)
            }
            let (taken, now) = (take(), clock.nowMilliseconds())
            isEnding = taken.isEnding
            if file == nil, !(0..<Self.retryMilliseconds).contains(now - lastTry) {
                file = open()
                lastTry = now
            }
            let isRunDue = lastRun.map { !(0..<Self.runMilliseconds).contains(now - $0) } ?? true
            if isRunDue || isEnding { lastRun = now }
            if !write(taken, to: file, now, run: lastRun == now) { file = nil }
            for asker in taken.askers { asker.signal() }
        }
    }

    private func take() -> Waiting {
        waiting.withLock { waiting in
            let taken = waiting
            waiting = Waiting(isEnding: waiting.isEnding)
            return taken
        }
    }

    private func open() -> HistoryFile? {
        do {
            return try HistoryFile(path: path)
        } catch {
            log?.add(event: "request history can't be opened", [("path", path), ("error", "\(error)")])
            return nil
        }
    }

    /// Returns false if the file is unusable.
    private func write(_ taken: Waiting, to file: HistoryFile?, _ now: Int64, run isRunDue: Bool) -> Bool {
        let entries = taken.entries.compactMap {
            HistoryEntry($0.summary, timeMilliseconds: $0.timeMilliseconds)
        }
        guard let file else {
            drop(entries.count, nil)
            return false
        }
        do {
            for place in taken.removals {
                try file.remove(container: place.container, environment: place.environment)
            }
            if !entries.isEmpty { try file.write(entries, options, nowMilliseconds: now) }
            if isRunDue { try file.note(HistoryRun(start: startMilliseconds, end: now)) }
            return true
        } catch let error as SQLiteError where error.isCorrupt || error.isNotADatabase {
            drop(entries.count, error)
            HistoryFile.remove(path)
            return false
        } catch {
            drop(entries.count, error)
            return true
        }
    }

    private func drop(_ count: Int, _ error: (any Error)?) {
        let isFirst = dropped.withLock { dropped in
            defer { dropped += count }
            return dropped == 0
        }
        guard isFirst, count > 0, let error else { return }
        log?.add(event: "request history can't be written", [("path", path), ("error", "\(error)")])
    }

    private func forget(_ file: HistoryFile, _ isThere: (HistoryPlace) -> Bool) {
        do {
            for (container, environment) in try file.environments() {
                let place = HistoryPlace(container: container, environment: environment)
                guard place != .all, container != HistoryFile.others, !isThere(place) else { continue }
                try file.remove(container: container, environment: environment)
            }
        } catch {
            log?.add(event: "request history can't be read", [("path", path), ("error", "\(error)")])
        }
    }
}
