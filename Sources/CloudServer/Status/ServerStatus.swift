import CloudService
import CloudStore
import CloudWire
import HTTPServer
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Handles `/health` and `/metrics`. Work that needs the disk runs on a thread of its own.
///
/// Requests that arrive before that thread begins a check share one response, so that a flood causes two
/// checks.
final class ServerStatus: ThreadOwner {
    /// The current values of the metrics.
    struct Gauges: Sendable {
        var connections = 0
        var polls = 0
        var pushes = 0
        var environmentsOpen = 0
        var environmentsOpenMax = 0
        var linesDropped = 0
        var webhooks = WebhookSender.Counts()
        var pruned = PrunedCounts()
    }

    private let dataFolder: DataFolder?
    private let watch: DiskWatch?
    private let clock: any TimeSource
    private let startMilliseconds: Int64
    private let counts = Lock(RequestCounts())
    /// A check of the disk and a metrics text. Up to one of each is queued.
    private let worker = Worker(jobsMax: 2)
    private let healthAskers = Lock([Reply]())
    private let metricsAskers = Lock([HTTPExchange]())
    /// Maximum requests that share one response. Without it, requests would accumulate while a disk hangs.
    static let askersMax = 4_096

    /// - Parameters:
    ///   - dataFolder: the folder to measure, or nil for a service without a folder.
    ///   - watch: monitors whether the disk can be written.
    init(dataFolder: DataFolder?, watch: DiskWatch?, clock: any TimeSource) {
        self.dataFolder = dataFolder
        self.watch = watch
        self.clock = clock
        startMilliseconds = clock.nowMilliseconds()
    }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) { try worker.start(start) }

    /// Counts a request after its response.
    func count(_ summary: HTTPExchangeSummary) {
        counts.withLock { $0.count(summary) }
    }

    /// Responds whether the server can do its work: 200, or 503 with the reason.
    func answerHealth(_ reply: Reply, isStopping: Bool) {
        guard !isStopping else { return Self.send(reply, "stopping", reason: nil) }
        guard let watch else { return Self.send(reply, "ok", reason: nil) }
        share(reply, with: healthAskers, look: { watch.look() }) { reply, trouble in
            Self.send(reply, trouble == nil ? "ok" : "failing", reason: trouble?.rawValue)
        } refuse: {
            $0.send(Refusal.busy)
        }
    }

    /// Responds that the process is alive.
    func answerLive(_ reply: Reply) { Self.send(reply, "ok", reason: nil) }

    /// Responds with all metrics.
    func answerMetrics(_ exchange: HTTPExchange, _ gauges: Gauges) {
        share(exchange, with: metricsAskers, look: { [self] in Array(text(gauges).utf8) }) { exchange, body in
            exchange.respond(
                HTTPResponse(status: 200, contentType: MetricsText.contentType, body: body))
        } refuse: {
            $0.respond(Reply.response(Refusal.busy.response(requestID: nil, extras: false)))
        }
    }

    /// Responds to `asker` with the worker's result, together with all others that arrive before it begins.
    private func share<Asker: Sendable, Answer>(
        _ asker: Asker, with askers: Lock<[Asker]>, look: @escaping @Sendable () -> Answer,
        answer: @escaping @Sendable (Asker, Answer) -> Void, refuse: (Asker) -> Void
    ) {
        let count = askers.withLock { askers in
            guard askers.count < Self.askersMax else { return nil as Int? }
            askers.append(asker)
            return askers.count
        }
        guard let count else { return refuse(asker) }
        guard count == 1 else { return }
        let isTaken = worker.submit {
            let asked = Self.takeAll(askers)
            let found = look()
            for asker in asked { answer(asker, found) }
        }
        if !isTaken { for asker in Self.takeAll(askers) { refuse(asker) } }
    }

    private static func takeAll<Asker>(_ askers: Lock<[Asker]>) -> [Asker] {
        askers.withLock { askers in
            defer { askers = [] }
            return askers
        }
    }

    /// Responds to pending requests, and ends the thread.
    func stop() { worker.stop() }

    private static func send(_ reply: Reply, _ status: String, reason: String?) {
        let reason = reason.map { #","reason":"\#($0)""# } ?? ""
        reply.sendJSON(Array(#"{"status":"\#(status)"\#(reason)}"#.utf8), status: status == "ok" ? 200 : 503)
    }

    // MARK: On the worker

    private func text(_ gauges: Gauges) -> String {
        var text = MetricsText()
        counts.withLock { $0 }.write(to: &text)
        writeGauges(gauges, to: &text)
        writeFiles(to: &text)
        writeProcess(to: &text)
        return text.text
    }

    private func writeGauges(_ gauges: Gauges, to text: inout MetricsText) {
        text.single(
            "yap_connections_open", .gauge, "Connections that are open.", Double(gauges.connections))
        text.single(
            "yap_courier_polls", .gauge, "Long polls held now.", Double(gauges.polls))
        text.single(
            "yap_pushes_delivered_total", .counter, "Pushes delivered to devices.", Double(gauges.pushes)
        )
        text.single(
            "yap_environments_open", .gauge, "Environments of containers that are open.",
            Double(gauges.environmentsOpen))
        text.single(
            "yap_environments_open_max", .gauge, "Environments that may be open at a time.",
            Double(gauges.environmentsOpenMax))
        text.single(
            "yap_log_lines_dropped_total", .counter, "Lines of the log that were dropped.",
            Double(gauges.linesDropped))
        text.family(
            "yap_webhook_requests_total", .counter, "Requests to webhooks, by result.")
        text.sample(
            "yap_webhook_requests_total", [("result", "delivered")], Double(gauges.webhooks.delivered))
        text.sample("yap_webhook_requests_total", [("result", "failed")], Double(gauges.webhooks.failed))
        text.single(
            "yap_webhook_notifications_abandoned_total", .counter,
            "Notifications abandoned after a day.", Double(gauges.webhooks.abandoned))
        text.family(
            "yap_pruned_total", .counter, "Rows that were discarded because they were too old, or too many.")
        text.sample("yap_pruned_total", [("kind", "tombstone")], Double(gauges.pruned.tombstones))
        text.sample("yap_pruned_total", [("kind", "zone")], Double(gauges.pruned.zones))
        text.sample("yap_pruned_total", [("kind", "answer")], Double(gauges.pruned.answers))
    }

    private func writeFiles(to text: inout MetricsText) {
        if let watch {
            let trouble = watch.look()
            text.single(
                "yap_disk_writable", .gauge, "1 when the server can write, 0 when it can't.",
                trouble == nil || trouble == .checkpoint ? 1 : 0)
            text.single(
                "yap_checkpoints_failing", .gauge,
                "Stores with a write-ahead log that can't be checkpointed.",
                Double(watch.stuckLogsCount))
        }
        guard let dataFolder else { return }
        if let free = DiskProbe.freeBytes(of: dataFolder.path) {
            text.single(
                "yap_disk_free_bytes", .gauge, "Free bytes on the data folder's disk.", Double(free))
        }
        let name = "yap_store_file_bytes"
        text.family(name, .gauge, "Sizes of the stores' files and of their write-ahead logs.")
        for (container, environment) in (try? dataFolder.environments()) ?? [] {
            guard let path = try? dataFolder.storePath(container: container, environment: environment)
            else { continue }
            for (file, ending) in [("store", ""), ("log", "-wal")] {
                text.sample(
                    name, [("container", container), ("environment", environment), ("file", file)],
                    Double(Self.size(of: path + ending)))
            }
        }
        text.single(
            "yap_control_file_bytes", .gauge, "Size of the control file.",
            Double(Self.size(of: dataFolder.controlPath)))
    }

    private func writeProcess(to text: inout MetricsText) {
        let process = ProcessNumbers()
        text.single(
            "process_cpu_seconds_total", .counter, "Time of processors that was used.",
            process.processorSeconds)
        text.single(
            "process_start_time_seconds", .gauge, "When the server started, in seconds since 1970.",
            Double(startMilliseconds) / 1000)
        if let bytes = process.residentBytes {
            text.single("process_resident_memory_bytes", .gauge, "Memory in use.", Double(bytes))
        }
        if let count = process.openDescriptors {
            text.single("process_open_fds", .gauge, "File descriptors that are open.", Double(count))
        }
        if let count = process.descriptorsMax {
            text.single("process_max_fds", .gauge, "File descriptors that may be open.", Double(count))
        }
    }

    private static func size(of path: String) -> Int64 {
        var status = stat()
        return stat(path, &status) == 0 ? Int64(status.st_size) : 0
    }
}
