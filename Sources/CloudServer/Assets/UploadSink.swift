import CloudService
import CloudWire
import HTTPServer
import System

/// An upload in progress: passes bytes from an event loop to the disk, one piece at a time.
///
/// Everything but the calls from the event loop runs on one worker, in the order of these calls.
final class UploadSink: HTTPBodySink {
    private enum Stage {
        /// Before the first bytes.
        case new
        case open(AssetUpload, OpenEnvironment)
        /// Answered or cancelled.
        case over
    }

    private struct State {
        var stage = Stage.new
        var form: MultipartParser?
    }

    private let handler: AssetHandler
    private let worker: Worker
    private let head: HTTPRequestHead
    /// The path of the request, parsed once.
    let path: ServicePath
    private let container: CloudService.Container
    /// The client's address.
    private let peer: String
    /// The client's network, for the limit of concurrent uploads.
    private var network: String { AttemptLimiter.key(address: peer) }
    private let startedMilliseconds: Int64
    private let state = Lock(State())

    init(
        _ handler: AssetHandler, _ worker: Worker, _ head: HTTPRequestHead, _ path: ServicePath,
        _ container: CloudService.Container, peer: String
    ) {
        self.peer = peer
        self.handler = handler
        self.worker = worker
        self.head = head
        self.path = path
        self.container = container
        startedMilliseconds = handler.clock.elapsedMilliseconds()
    }

    // MARK: On a loop

    func receive(_ bytes: [UInt8], _ flow: HTTPBodyFlow) -> HTTPBodyDemand {
        run({ self.take(bytes, flow) }, else: { flow.refuse(Reply.response(Refusal.busy, to: self.head)) })
        return .pause
    }

    func cancelled() { run({ self.giveUp() }, else: {}) }

    /// Called after the last byte.
    func finish(_ reply: Reply) {
        run({ self.end(reply) }, else: { reply.send(Refusal.busy) })
    }

    /// An upload with an open file always finds room for its next job. Otherwise the file would never be closed.
    private func run(_ job: @escaping @Sendable () -> Void, else refused: () -> Void) {
        let holds = state.withLock { if case .open = $0.stage { true } else { false } }
        if !worker.submit(isOwed: holds, job) { refused() }
    }

    // MARK: On the worker

    private func take(_ bytes: [UInt8], _ flow: HTTPBodyFlow) {
        switch state.withLock({ $0.stage }) {
        case .new:
            open { [self] error in
                if let error { return refuse(error, flow) }
                take(bytes, flow)
            }
        case .open(let upload, _):
            do throws(WireError) {
                try write(bytes, to: upload)
                flow.resume()
            } catch {
                refuse(error, flow)
            }
        case .over: flow.refuse(Reply.response(ServiceRefusal.cut, to: head))
        }
    }

    private func write(_ bytes: [UInt8], to upload: AssetUpload) throws(WireError) {
        guard handler.clock.elapsedMilliseconds() - startedMilliseconds <= handler.uploadMillisecondsMax
        else {
            throw ServiceRefusal.tooSlow
        }
        let (file, error) = state.withLock { state -> ([UInt8], MultipartError?) in
            do throws(MultipartError) {
                return (try state.form?.take(bytes) ?? bytes, nil)
            } catch {
                return ([], error)
            }
        }
        if let error { throw Refusal.badRequest("multipart/form-data: \(error.reason)") }
        if !file.isEmpty { try upload.write(file) }
    }

    private func end(_ reply: Reply) {
        switch state.withLock({ $0.stage }) {
        case .new:
            open { [self] error in
                guard let error else { return end(reply) }
                giveUp()
                reply.send(error)
            }
        case .open(let upload, _):
            do throws(WireError) {
                if let error = state.withLock({ state in state.form.flatMap { $0.endError } }) {
                    throw Refusal.badRequest("multipart/form-data: \(error.reason)")
                }
                let answer = try upload.finish()
                giveUp()
                reply.send(answer)
            } catch {
                giveUp()
                reply.send(error)
            }
        case .over: reply.send(ServiceRefusal.cut)
        }
    }

    /// Opens the file and calls `next` on the worker, with the error on failure.
    private func open(_ next: @escaping @Sendable (WireError?) -> Void) {
        handler.table.use(container, from: peer) { [self] result in
            run(
                {
                    switch result {
                    case .failure(let error): next(error)
                    case .success(let environment): next(self.open(in: environment))
                    }
                },
                else: {
                    if case .success(let environment) = result { handler.table.release(environment) }
                    next(Refusal.busy)
                })
        }
    }

    private func open(in environment: OpenEnvironment) -> WireError? {
        do throws(WireError) {
            let form: MultipartParser?
            do throws(MultipartError) {
                form = try head.header("Content-Type").flatMap { text throws(MultipartError) in
                    try MultipartParser(contentType: text)
                }
            } catch {
                throw Refusal.badRequest("multipart/form-data: \(error.reason)")
            }
            let upload = try environment.service.beginUpload(ticket: head.queryValue("t") ?? "")
            guard handler.beginUpload(of: upload.user, from: network) else {
                upload.cancel()
                throw Refusal.tooManyFiles
            }
            let isWanted = state.withLock { state in
                guard case .new = state.stage else { return false }
                state = State(stage: .open(upload, environment), form: form)
                return true
            }
            guard !isWanted else { return nil }
            upload.cancel()
            handler.endUpload(of: upload.user, from: network)
            throw ServiceRefusal.cut
        } catch {
            handler.table.release(environment)
            return error
        }
    }

    private func refuse(_ error: WireError, _ flow: HTTPBodyFlow) {
        giveUp()
        flow.refuse(Reply.response(error, to: head))
    }

    /// Ends the upload in any state.
    private func giveUp() {
        let stage = state.withLock { state in
            defer { state.stage = .over }
            return state.stage
        }
        guard case .open(let upload, let environment) = stage else { return }
        upload.cancel()
        handler.table.release(environment)
        handler.endUpload(of: upload.user, from: network)
    }
}

extension MultipartParser {
    fileprivate var endError: MultipartError? {
        do throws(MultipartError) {
            try finish()
            return nil
        } catch {
            return error
        }
    }
}

enum ServiceRefusal {
    static let cut = Refusal.badRequest("the upload was cut")
    static let tooSlow = Refusal.badRequest("the upload took too long")
}
