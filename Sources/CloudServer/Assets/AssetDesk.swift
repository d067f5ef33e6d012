import CloudService
import CloudWire
import HTTPServer
import Seams

/// Takes the files that clients send, and gives out those that they fetch: on threads of its own, because disks block.
final class AssetDesk: Sendable {
    private static let workersCount = 4
    /// What multipart adds to a file at most.
    private static let formBytesMax = 16 << 10

    let table: EnvironmentTable
    /// Takes the time of the uploads.
    let clock: any MonotonicSource
    let uploadMillisecondsMax: Int64
    private let workers: [Worker]
    private let uploadsMax: Int
    private let downloadsMax: Int
    private let fileBytesMax: Int64
    private let counts = Lock(Counts())

    private struct Counts {
        var uploads = 0
        var downloads = 0
        var nextWorker = 0
    }

    init(_ options: CloudServerOptions, table: EnvironmentTable) {
        self.table = table
        clock = options.monotonicClock
        uploadsMax = options.assets.uploadsMax
        downloadsMax = options.assets.downloadsMax
        uploadMillisecondsMax = options.assets.uploadMillisecondsMax
        fileBytesMax = options.limits.assets.fileBytesMax
        // A transfer has a job or two at a time, and each must find room, or what it holds would never be given back.
        let jobsMax = 4 * (options.assets.uploadsMax + options.assets.downloadsMax)
        workers = (0..<Self.workersCount).map { _ in Worker(jobsMax: jobsMax) }
    }

    /// How many bytes the HTTP server must let through in a body.
    static func bodyBytesMax(_ options: CloudServerOptions) -> Int {
        Int(clamping: options.limits.assets.fileBytesMax) + formBytesMax
    }

    /// What to do with the body of a request under `/asset/1/`.
    func bodyPlan(for head: HTTPRequestHead, _ container: CloudService.Container, isUpload: Bool)
        -> HTTPBodyPlan
    {
        guard isUpload, head.method == "POST" else { return .collect(bytesMax: 0) }
        let length = head.header("Content-Length").flatMap { Int64($0) } ?? 0
        guard length <= fileBytesMax + Int64(Self.formBytesMax) else {
            return .refuse(Reply.response(Refusal.bodyTooLarge(bytesMax: Int(fileBytesMax)), to: head))
        }
        guard let worker = begin(\.uploads, max: uploadsMax) else {
            return .refuse(Reply.response(Refusal.busy, to: head))
        }
        return .stream(to: UploadSink(self, worker, head, container))
    }

    /// Answers a request whose body is here.
    func handle(_ request: HTTPRequest, _ reply: Reply, _ container: CloudService.Container, isUpload: Bool) {
        switch (request.head.method, isUpload) {
        case ("POST", true):
            guard let sink = request.sink as? UploadSink else {
                return reply.send(Refusal.noSuchPath(request.head.path))
            }
            sink.finish(reply)
        case ("GET", false), ("HEAD", false): download(request.head, reply, container)
        default: reply.send(Refusal.wrongMethod(isUpload ? "POST" : "GET"))
        }
    }

    /// Ends what waits for the disk. The HTTP server must have stopped.
    func stop() {
        for worker in workers { worker.stop() }
    }

    /// How many files are being sent, and fetched.
    var transferCounts: (uploads: Int, downloads: Int) { counts.withLock { ($0.uploads, $0.downloads) } }

    func endUpload() { counts.withLock { $0.uploads -= 1 } }

    func endDownload() { counts.withLock { $0.downloads -= 1 } }

    /// A worker for one more transfer; nil when there are too many.
    private func begin(_ count: WritableKeyPath<Counts, Int>, max: Int) -> Worker? {
        counts.withLock { counts in
            guard counts[keyPath: count] < max else { return nil }
            counts[keyPath: count] += 1
            counts.nextWorker = (counts.nextWorker + 1) % workers.count
            return workers[counts.nextWorker]
        }
    }

    private func download(_ head: HTTPRequestHead, _ reply: Reply, _ container: CloudService.Container) {
        let parts = head.path.pathSegments()
        guard parts.count == 8, let ticket = head.queryValue("t") else {
            return reply.send(Refusal.noSuchPath(head.path))
        }
        guard let worker = begin(\.downloads, max: downloadsMax) else { return reply.send(Refusal.busy) }
        let ending = TransferEnd { [self] in endDownload() }
        table.use(container) { [table] result in
            let isTaken = worker.submit {
                switch result {
                case .failure(let error): reply.send(error)
                case .success(let environment):
                    defer { table.release(environment) }
                    do throws(WireError) {
                        let file = try environment.service.openAsset(checksum: parts[6], ticket: ticket)
                        let answer = FileAnswer(file, head, name: parts[7])
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

/// Calls `end` once, when the last who holds it lets go.
final class TransferEnd: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) {
        self.end = end
    }

    deinit { end() }
}
