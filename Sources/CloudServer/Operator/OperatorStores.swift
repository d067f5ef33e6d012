import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The result of an operator's change: the response, and a note for the audit log.
struct OperatorAnswer: Sendable {
    let json: JSONValue
    var note: String?
}

/// Gives operators' requests access to environments' stores. Each waits for its turn and runs on the threads
/// of the service, and a change has a line in the audit log.
struct OperatorStores: Sendable {
    typealias Completion = @Sendable (Result<OperatorAnswer, WireError>) -> Void

    private let control: ControlStore
    private let table: EnvironmentTable
    private let gate: OperatorGate
    private let queue: FairWorker
    private let audit: OperatorAudit
    private let log: ServerLog?

    /// - Parameter queue: the handler's thread, on which outcomes are written.
    init(
        _ control: ControlStore, _ audit: OperatorAudit, _ table: EnvironmentTable, _ gate: OperatorGate,
        _ queue: FairWorker, _ log: ServerLog?
    ) {
        self.log = log
        self.control = control
        self.audit = audit
        self.table = table
        self.gate = gate
        self.queue = queue
    }

    /// Responds with the result of a read of an environment's store.
    func read(
        _ container: CloudService.Container, _ request: OperatorRequest,
        _ body: @escaping @Sendable (CloudService, any CloudStoreReader) throws -> JSONValue
    ) throws {
        try take(request, in: container.identifier, nil) { completion in
            ask(
                container, request, { service in .read { OperatorAnswer(json: try body(service, $0)) } },
                completion)
        }
    }

    /// Runs `work` on the handler's thread in its turn, and responds with its result or error. Must be called
    /// on the handler's thread.
    ///
    /// - Parameters:
    ///   - container: the container, which must exist.
    ///   - line: the audit line, for a change.
    /// - Throws: `ControlError.noSuchContainer`, `CloudStoreError`; then nothing is done.
    func take(
        _ request: OperatorRequest, in container: String?, _ line: AuditLine?,
        _ work: @escaping @Sendable (@escaping Completion) throws -> Void
    ) throws {
        // Before a line is written about an impossible change.
        if let container, try !control.containers.exists(container) {
            throw ControlError.noSuchContainer(container)
        }
        let isTaken = gate.enter {
            let isTaken = queue.submitOwed { run(request, line, work) }
            guard !isTaken else { return }
            gate.leave()
            request.reply.send(Refusal.stopping)
        }
        if !isTaken { request.reply.send(Refusal.busy) }
    }

    private func run(
        _ request: OperatorRequest, _ line: AuditLine?,
        _ work: @Sendable (@escaping Completion) throws -> Void
    ) {
        var number: Int64?
        do {
            number = try line.map { try audit.begin($0) }
            let begun = number
            try work { result in
                gate.leave()
                finish(begun, result, request.reply)
            }
        } catch {
            gate.leave()
            let failure = OperatorFailure.wireError(error, request.head.requestID, log)
            finish(number, .failure(failure), request.reply)
        }
    }

    /// Does work in an environment's store.
    func ask<Made: Sendable>(
        _ container: CloudService.Container, _ request: OperatorRequest,
        _ begin: @escaping @Sendable (CloudService) throws -> OperatorWork<Made>,
        _ completion: @escaping @Sendable (Result<Made, WireError>) -> Void
    ) {
        table.use(container, from: request.peer, bodyBytes: request.http.body.count) { [table] result in
            switch result {
            case .failure(let error): completion(.failure(error))
            case .success(let environment):
                environment.thread.run(begin) { made in
                    table.release(environment)
                    completion(made)
                }
            }
        }
    }

    /// Writes the outcome of a change, and responds. Called on threads that must not wait for the file.
    private func finish(_ number: Int64?, _ result: Result<OperatorAnswer, WireError>, _ reply: Reply) {
        @Sendable func send() {
            switch result {
            case .success(let answer): reply.send(answer.json)
            case .failure(let error): reply.send(error)
            }
        }
        guard let number else { return send() }
        let isTaken = queue.submitOwed { [audit] in
            switch result {
            case .success(let answer): audit.finish(number, .done, note: answer.note)
            case .failure(let error):
                let code = error.serverErrorCode
                audit.finish(number, code.httpStatus >= 500 ? .failed : .refused, note: code.rawValue)
            }
            send()
        }
        if !isTaken { send() }
    }
}
