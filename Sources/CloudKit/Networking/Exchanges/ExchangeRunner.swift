internal import CloudWire
internal import System

/// Runs one exchange: sends its requests, delivers its events, and stops when the operation is cancelled.
final class ExchangeRunner<E: OperationExchange>: Sendable {
    private struct State {
        /// Nil while a thread works with it.
        var exchange: E?
        var isAdvancing = false
        var isDone = false
        /// Progress that wasn't delivered yet.
        var progress: [FileProgress] = []
        /// Cancels the request in flight.
        var cancelRequest: TransportCancel?
    }

    /// Holds a response that arrives before `send` has returned. So the pages of an inline exchange are a loop, and the
    /// stack doesn't grow.
    private enum Mailbox {
        case empty
        case reply(Result<WireResponse, CKError>)
        case abandoned
    }

    private typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void

    private let state: Lock<State>
    private let connection: CloudConnection
    private let rules: RequestRules
    /// The responses of an earlier process; nil if the operation isn't long-lived.
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

    /// Runs until a response is pending, or to the end.
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
                // A downloaded file is in the cache, so only the receipts of uploads are kept.
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

    /// Delivers the pending progress. Also called before a response is processed, because a response that arrives at
    /// once would overtake it.
    private func tellProgress() {
        let news = state.withLock { state in
            defer { state.progress = [] }
            return state.isDone ? [] : state.progress
        }
        for item in news { progress(item) }
    }

    private func keptReply() -> Result<WireResponse, CKError>? { kept?.nextReply().map { .success($0) } }

    /// Ends an exchange with a pending response. One that is running checks for cancellation itself.
    func cancel() {
        deliver {
            guard !self.state.withLock({ $0.isAdvancing }) else { return }
            // Called after the end, so that its result is ignored.
            let cancelRequest = self.state.withLock { $0.cancelRequest }
            self.finish(.failure(.cancelled))
            cancelRequest?()
        }
    }

    /// Sends a request.
    /// - Returns: the response if it arrived at once; otherwise nil, and the exchange continues when it arrives.
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
        // Stored before the mailbox is abandoned, because a late response continues at once and may send the next
        // request. The previous closure is released after the lock.
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

    /// Runs `body` with the exchange, without the lock: `body` may evaluate a predicate of the app and release its
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
        // The closure that cancels a file's transfer retains this runner for its progress. It is released
        // here, to break the cycle.
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
