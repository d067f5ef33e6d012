import CloudStore
import CloudWire

extension ModifyDecider {
    /// Throws the error of a failed atomic batch if the error applies to the batch as a whole. Then nothing
    /// of it is written.
    func refuseAtomicFailure(_ decision: ModifyDecision) throws {
        guard batch.settings.atomicFailureIsError, !batch.caller.wantsExtras else { return }
        let failed = zip(batch.operations, decision.results).lazy.compactMap {
            operation, result -> WireError? in
            guard case .error(let error) = result, error.serverErrorCode != .atomicError else { return nil }
            let zone = (try? operation.target.get())?.zone
            return zone.map(batch.isAtomic(in:)) ?? batch.isAtomicWhereItCan ? error : nil
        }
        guard let cause = failed.first(where: { _ in true }) else { return }
        var error = ServiceError.atomicFailure
        let reason = "\(cause.recordName ?? ""): \(cause.serverErrorCode.rawValue) \(cause.reason ?? "")"
        error.reason = "Atomic failure: \(reason)"
        throw error
    }
}
