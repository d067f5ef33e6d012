internal import CloudWire
internal import System

/// Walks one exchange: sends its requests, hands out its events, stops when the operation is cancelled.
final class ExchangeRunner<E: OperationExchange>: Sendable {
    private struct State {
        /// Nil while a thread works with it.
        var exchange: E?
        var isAdvancing = false
        var isDone = false
        /// What the files' way is told of when its turn comes.
        var progress: [FileProgress] = []
        /// Gives up the request that is under way.
        var cancelRequest: TransportCancel?
    }

    /// The place where an answer that comes before `send` returned waits: so the pages of an inline exchange
    /// are a loop and don't pile up on the stack.
    private enum Mailbox {
        case empty
        case reply(Result<WireResponse, CKError>)
        case abandoned
    }

    private typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void

    private let state: Lock<State>
    private let connection: CloudConnection
    private let rules: RequestRules
    /// The answers that came before this process, where the operation outlives it.
    private let kept: LongLivedRun?
    private let isCancelled: @Sendable () -> Bool
    private let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let event: @Sendable (E.Event) -> Void
    private let progress: @Sendable (FileProgress) -> Void
    private let completion: @Sendable (Result<E.Output, CKError>) -> Void

    init(
        _ exchange: E, connection: CloudConnection, rules: RequestRules, kept: LongLivedRun? = nil,
        isCancelled: @escaping @Sendable () -> Bool,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        event: @escaping @Sendable (E.Event) -> Void,
        progress: @escaping @Sendable (FileProgress) -> Void = { _ in },
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        state = Lock(State(exchange: exchange))
        self.connection = connection
        self.rules = rules
        self.kept = kept
        self.isCancelled = isCancelled
        self.deliver = deliver
        self.event = event
        self.progress = progress
        self.completion = completion
    }

    /// Goes on until an answer has to be waited for, or to the end.
    func advance() {
        state.withLock { $0.isAdvancing = true }
        defer { state.withLock { $0.isAdvancing = false } }
        while !state.withLock({ $0.isDone }) {
            if isCancelled() { return finish(.failure(.cancelled)) }
            let step: ExchangeStep<E.Event, E.Output>
            do throws(CKError) {
                step = try withExchange { exchange throws(CKError) in try exchange.nextStep() }
            } catch {
                return finish(.failure(error))
            }
            switch step {
            case .finished(let output): return finish(.success(output))
            case .report(let events): for item in events { event(item) }
            case .send(let request):
                guard let reply = keptReply() ?? wait(isKept: true, { self.send(request, $0) }) else {
                    return
                }
                receive(reply)
            case .transfer(let transfer):
                // What was fetched lies in the cache: only the receipt of what was sent is kept.
                let isKept = transfer.direction == .upload
                guard
                    let reply = (isKept ? keptReply() : nil)
                        ?? wait(isKept: isKept, { self.carry(transfer, $0) })
                else { return }
                receive(reply)
            }
        }
    }

    private func send(_ request: WireRequest, _ completion: @escaping Completion) -> TransportCancel {
        connection.send(request, rules: rules, completion: completion)
    }

    private func carry(_ transfer: FileTransfer, _ completion: @escaping Completion) -> TransportCancel {
        connection.carry(
            transfer, rules: rules, progress: { self.report($0, of: transfer) }, completion: completion)
    }

    private func report(_ fraction: Double, of transfer: FileTransfer) {
        guard let progress = transfer.progress?.at(fraction) else { return }
        state.withLock { $0.progress.append(progress) }
        deliver { self.tellProgress() }
    }

    /// Tells what came since the last time. Also called before an answer is looked at: one that comes at once would be
    /// told before what waits for its turn.
    private func tellProgress() {
        let news = state.withLock { state in
            defer { state.progress = [] }
            return state.isDone ? [] : state.progress
        }
        for item in news { progress(item) }
    }

    private func keptReply() -> Result<WireResponse, CKError>? { kept?.nextReply().map { .success($0) } }

    /// Ends an exchange that waits for an answer; one that is at work sees the cancellation itself.
    func cancel() {
        deliver {
            guard !self.state.withLock({ $0.isAdvancing }) else { return }
            // Called after the end, so that what it brings is no news.
            let cancelRequest = self.state.withLock { $0.cancelRequest }
            self.finish(.failure(.cancelled))
            cancelRequest?()
        }
    }

    /// The answer if it came at once; else nil, and the exchange goes on when it comes.
    private func wait(
        isKept: Bool, _ send: (@escaping Completion) -> TransportCancel
    ) -> Result<WireResponse, CKError>? {
        let mailbox = Lock(Mailbox.empty)
        let cancelRequest = send { reply in
            if isKept { self.kept?.append(reply) }
            let comesLate = mailbox.withLock { mailbox in
                if case .abandoned = mailbox { return true }
                mailbox = .reply(reply)
                return false
            }
            guard comesLate else { return }
            self.deliver {
                self.receive(reply)
                self.advance()
            }
        }
        // Before the mailbox is left, because who comes late goes on at once, and may send the next request.
        // What cancels the request before is released after the lock.
        _ = state.withLock { state in
            defer { state.cancelRequest = cancelRequest }
            return state.cancelRequest
        }
        return mailbox.withLock { mailbox in
            if case .reply(let reply) = mailbox { return reply }
            mailbox = .abandoned
            return nil
        }
    }

    private func receive(_ reply: Result<WireResponse, CKError>) {
        tellProgress()
        guard !state.withLock({ $0.isDone }) else { return }
        let events = withExchange { $0.receive(reply) }
        for item in events { event(item) }
    }

    /// Runs `body` with the exchange, outside of the lock: it may evaluate a predicate of the app, and release its
    /// records.
    private func withExchange<Result, Failure: Error>(
        _ body: (inout E) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard
            var exchange = state.withLock({ state -> E? in
                defer { state.exchange = nil }
                return state.exchange
            })
        else { preconditionFailure("two threads work with one exchange") }
        defer { state.withLock { $0.exchange = exchange } }
        return try body(&exchange)
    }

    private func finish(_ result: Result<E.Output, CKError>) {
        // What cancels a file knows whom to tell of its progress: kept, the two would hold each other for ever.
        let (isFirst, cancelRequest) = state.withLock { state in
            defer {
                state.isDone = true
                state.cancelRequest = nil
            }
            return (!state.isDone, state.cancelRequest)
        }
        _ = cancelRequest
        if isFirst { completion(result) }
    }
}
