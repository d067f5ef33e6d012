import CloudStore
import CloudWire
import System

/// The work of an operator's request in an environment's store.
package enum OperatorWork<Result: Sendable>: Sendable {
    /// Reads from a snapshot.
    case read(@Sendable (any CloudStoreReader) throws -> Result)
    /// Writes as a member of a group commit. It may run again if the group fails.
    case write(@Sendable (any CloudStoreWriter) throws -> Result)
}

extension CloudServiceThread {
    /// Performs the work that `begin` returns, in the operators' queue. `begin` is called on a reader's
    /// thread, so it may read for a long time. `completion` is called once, as in `send`, after the writes
    /// are durable.
    package func run<Made: Sendable>(
        _ begin: @escaping @Sendable (CloudService) throws -> OperatorWork<Made>,
        completion: @escaping @Sendable (Result<Made, WireError>) -> Void
    ) {
        let service = threads.service
        let made = Lock<Made?>(nil)
        @Sendable func keep(_ body: () throws -> Made) throws -> ServiceAnswer {
            let result = try Self.tellingRefusals(body)
            made.withLock { $0 = result }
            return .nothing
        }
        threads.take(
            ServiceJob(
                bytes: 0, owner: Self.operatorsOwner,
                begin: {
                    let work: ServiceWork
                    do {
                        switch try Self.tellingRefusals({ try begin(service) }) {
                        case .read(let body): work = .read { reader in try keep { try body(reader) } }
                        case .write(let body): work = .write { writer in try keep { try body(writer) } }
                        }
                    } catch {
                        work = .answer(.error(ServiceFailure.wireError(error)))
                    }
                    return PreparedRequest(work: work, bytes: 0, wantsExtras: false)
                },
                finish: { _, answer, _ in
                    if case .error(let error) = answer { return completion(.failure(error)) }
                    let result = made.withLock { $0 }
                    completion(
                        result.map { .success($0) }
                            ?? .failure(ServiceError.internalError("the service gave no response")))
                },
                refuse: { completion(.failure(ServiceThreads.refusal)) }))
    }

    /// Converts the rejection of a schema change to an error of the wire.
    private static func tellingRefusals<Made>(_ body: () throws -> Made) throws -> Made {
        do {
            return try body()
        } catch let refusal as SchemaRefusal {
            throw refusal.wireError
        }
    }
}

extension SchemaRefusal {
    private static let reasonsMax = 20

    /// A conflict error with the first reasons.
    package var wireError: WireError {
        let rest = reasons.count - Self.reasonsMax
        let lines = reasons.prefix(Self.reasonsMax) + (rest > 0 ? ["and \(rest) more reasons"] : [])
        return WireError(.conflict, reason: lines.joined(separator: "\n"), ckErrorCode: 14)
    }
}
