internal import CloudWire
internal import Seams

/// Walks one exchange: sends its requests, hands out its events, stops when the operation is cancelled.
final class ExchangeRunner<E: Exchange>: Sendable {
    private struct State {
        var exchange: E
        var isAdvancing = false
        var isDone = false
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

    private let state: Lock<State>
    private let connection: CloudConnection
    private let rules: RequestRules
    private let isCancelled: @Sendable () -> Bool
    private let deliver: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let event: @Sendable (E.Event) -> Void
    private let completion: @Sendable (Result<E.Output, CKError>) -> Void

    init(
        _ exchange: E, connection: CloudConnection, rules: RequestRules,
        isCancelled: @escaping @Sendable () -> Bool,
        deliver: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void,
        event: @escaping @Sendable (E.Event) -> Void,
        completion: @escaping @Sendable (Result<E.Output, CKError>) -> Void
    ) {
        state = Lock(State(exchange: exchange))
        self.connection = connection
        self.rules = rules
        self.isCancelled = isCancelled
        self.deliver = deliver
        self.event = event
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
                step = try state.withLock { state throws(CKError) in try state.exchange.nextStep() }
            } catch {
                return finish(.failure(error))
            }
            switch step {
            case .finished(let output): return finish(.success(output))
            case .report(let events): for item in events { event(item) }
            case .send(let request):
                guard let reply = wait({ self.connection.send(request, rules: self.rules, completion: $0) })
                else { return }
                receive(reply)
            case .transfer(let transfer):
                guard let reply = wait({ self.connection.carry(transfer, rules: self.rules, completion: $0) })
                else { return }
                receive(reply)
            }
        }
    }

    /// Ends an exchange that waits for an answer; one that is at work sees the cancellation itself.
    func cancel() {
        deliver {
            guard !self.state.withLock({ $0.isAdvancing }) else { return }
            self.finish(.failure(.cancelled))
            let cancelRequest = self.state.withLock { state in
                defer { state.cancelRequest = nil }
                return state.cancelRequest
            }
            cancelRequest?()
        }
    }

    /// The answer if it came at once; else nil, and the exchange goes on when it comes.
    private func wait(
        _ send: (@escaping @Sendable (Result<WireResponse, CKError>) -> Void) -> TransportCancel
    ) -> Result<WireResponse, CKError>? {
        let mailbox = Lock(Mailbox.empty)
        let cancelRequest = send { reply in
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
        state.withLock { $0.cancelRequest = cancelRequest }
        return mailbox.withLock { mailbox in
            if case .reply(let reply) = mailbox { return reply }
            mailbox = .abandoned
            return nil
        }
    }

    private func receive(_ reply: Result<WireResponse, CKError>) {
        let events = state.withLock { $0.isDone ? [] : $0.exchange.receive(reply) }
        for item in events { event(item) }
    }

    private func finish(_ result: Result<E.Output, CKError>) {
        let isFirst = state.withLock { state in
            defer { state.isDone = true }
            return !state.isDone
        }
        if isFirst { completion(result) }
    }
}
