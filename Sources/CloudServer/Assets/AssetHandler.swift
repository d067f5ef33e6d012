import CloudService
import CloudWire
import HTTPServer
import System

/// Handles uploads and downloads of files, on threads of its own because disks block.
final class AssetHandler: ThreadOwner {
    private static let workersCount = 4
    /// Maximum number of jobs on each worker for requests without a checked ticket.
    private static let strangersJobsMax = 2_048
    /// Maximum bytes that multipart adds to a file.
    private static let formBytesMax = 16 << 10
    /// One client network may take this fraction of the free transfers.
    static let sharesCount = 8

    let table: EnvironmentTable
    /// Measures the time of uploads.
    let clock: any MonotonicSource
    let uploadMillisecondsMax: Int64
    private let workers: [Worker]
    private let fileBytesMax: Int64
    private let nextWorker = Lock(0)
    /// Uploads in progress, by the user of their address.
    private let uploads: Lock<FairCount>
    /// Uploads in progress, by client network: one network may have many accounts.
    private let uploadsOfNetworks: Lock<FairCount>
    /// Downloads in progress, by client network: a file's address doesn't name a user.
    private let downloads: Lock<FairCount>

    init(_ options: CloudServerOptions, table: EnvironmentTable) {
        self.table = table
        clock = options.monotonicClock
        uploadMillisecondsMax = options.assets.uploadMillisecondsMax
        fileBytesMax = Self.fileBytesMax(options)
        uploads = Lock(FairCount(max: options.assets.uploadsMax))
        uploadsOfNetworks = Lock(
            FairCount(max: options.assets.uploadsMax, sharesCount: Self.sharesCount))
        downloads = Lock(FairCount(max: options.assets.downloadsMax, sharesCount: Self.sharesCount))
        workers = (0..<Self.workersCount).map { _ in Worker(jobsMax: Self.strangersJobsMax) }
    }

    /// Starts the workers. They live until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        for worker in workers { try worker.start(start) }
    }

    /// Maximum bytes of a body that the HTTP server must accept.
    static func bodyBytesMax(_ options: CloudServerOptions) -> Int {
        Int(fileBytesMax(options)) + formBytesMax
    }

    /// Leaves room for what multipart adds.
    private static func fileBytesMax(_ options: CloudServerOptions) -> Int64 {
        min(options.limits.assets.fileBytesMax, .max - Int64(formBytesMax))
    }

    /// Returns how to handle the body of a request under `/asset/1/`.
    ///
    /// - Parameter peer: the client's address.
    func bodyPlan(
        for head: HTTPRequestHead, _ path: ServicePath, _ container: CloudService.Container, isUpload: Bool,
        peer: String
    ) -> HTTPBodyPlan {
        guard isUpload, head.method == "POST" else { return .collect(bytesMax: 0) }
        let length = head.header("Content-Length").flatMap { Int64($0) } ?? 0
        guard length <= fileBytesMax + Int64(Self.formBytesMax) else {
            return .refuse(Reply.response(Refusal.bodyTooLarge(bytesMax: Int(fileBytesMax)), to: head))
        }
        return .stream(to: UploadSink(self, worker(), head, path, container, peer: peer))
    }

    /// Responds to a request whose body was received.
    ///
    /// - Parameter peer: the client's address.
    func handle(
        _ request: HTTPRequest, _ reply: Reply, _ path: ServicePath, _ container: CloudService.Container,
        isUpload: Bool, peer: String
    ) {
        switch (request.head.method, isUpload) {
        case ("POST", true):
            guard let sink = request.sink as? UploadSink else {
                return reply.send(Refusal.noSuchPath(request.head.path))
            }
            sink.finish(reply)
        case ("GET", false), ("HEAD", false): download(request.head, path, reply, container, peer)
        default: reply.send(Refusal.wrongMethod(isUpload ? "POST" : "GET"))
        }
    }

    /// Stops the workers. The HTTP server must have stopped.
    func stop() {
        for worker in workers { worker.stop() }
    }

    /// Reserves an upload for a user after the ticket was checked.
    func beginUpload(of user: String, from network: String) -> Bool {
        guard uploadsOfNetworks.withLock({ $0.begin(network) }) else { return false }
        let isTaken = uploads.withLock { $0.begin(user) }
        if !isTaken { uploadsOfNetworks.withLock { $0.end(network) } }
        return isTaken
    }

    func endUpload(of user: String, from network: String) {
        uploads.withLock { $0.end(user) }
        uploadsOfNetworks.withLock { $0.end(network) }
    }

    /// Returns the worker for the next transfer.
    private func worker() -> Worker {
        workers[
            nextWorker.withLock { next in
                next = (next + 1) % Self.workersCount
                return next
            }]
    }

    private func download(
        _ head: HTTPRequestHead, _ path: ServicePath, _ reply: Reply, _ container: CloudService.Container,
        _ peer: String
    ) {
        let parts = path.endpoint.pathSegments()
        guard parts.count == 3, let ticket = head.queryValue("t") else {
            return reply.send(Refusal.noSuchPath(head.path))
        }
        let owner = AttemptLimiter.key(address: peer)
        guard downloads.withLock({ $0.begin(owner) }) else { return reply.send(Refusal.tooManyFiles) }
        let ending = TransferEnd { [self] in downloads.withLock { $0.end(owner) } }
        let worker = worker()
        table.use(container, from: peer) { [table] result in
            let isTaken = worker.submit {
                switch result {
                case .failure(let error): reply.send(error)
                case .success(let environment):
                    defer { table.release(environment) }
                    do throws(WireError) {
                        let file = try environment.service.openAsset(checksum: parts[1], ticket: ticket)
                        let answer = FileAnswer(file, head, name: parts[2])
                        reply.send(answer.response { FileSource($0, worker, ending) })
                    } catch {
                        reply.send(error)
                    }
                }
            }
            guard !isTaken else { return }
            if case .success(let environment) = result { table.release(environment) }
            reply.send(Refusal.busy)
        }
    }
}

/// Calls `end` once, when the last reference is released.
final class TransferEnd: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
