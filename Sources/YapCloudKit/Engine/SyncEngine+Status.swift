internal import CloudKit
import Foundation

extension SyncEngine {
    /// How far the sync is, of the account in use.
    package var status: CloudSyncStatus {
        let keys = lanes.keys.filter { $0.account == account }.sorted()
        let sorted = keys.compactMap { lanes[$0] }
        if sorted.contains(where: { $0.running != nil }) {
            return .syncing(pending: sorted.reduce(0) { $0 + $1.count.pending })
        }
        let problems = sorted.flatMap(\.problems)
        if !problems.isEmpty { return .needsAttention(problems) }
        var pauses = sorted.filter(\.hasWork).compactMap(\.pause)
        if let countPause { pauses.append((countPause.untilMilliseconds, .localDatabase)) }
        if let first = pauses.min(by: { $0.untilMilliseconds < $1.untilMilliseconds }) {
            let until = Date(timeIntervalSince1970: Double(first.untilMilliseconds) / 1000)
            return .waiting(until: until, because: first.because)
        }
        if sorted.contains(where: \.hasWork) {
            return .waiting(until: nil, because: isOurTurn ? .suspended : .otherProcess)
        }
        // Nothing of this account waits; of another one something may, and must not be forgotten for that.
        let waitsElsewhere = lanes.contains { $0.key.account != account && $0.value.count.pending > 0 }
        return waitsElsewhere ? .waiting(until: nil, because: .anotherAccount) : .idle
    }
}

extension SyncLane {
    /// What the app or the user has to deal with.
    fileprivate var problems: [CloudSyncProblem] {
        let quota: [CloudSyncProblem] = isQuotaFull && count.pending > 0 ? [.quotaExceeded] : []
        let connection = pause != nil && hasWork ? refusedConnection : nil
        return [stop, connection].compactMap { $0 } + quota + count.refused + count.differingZones
    }
}

extension QueueCount {
    /// Whether changes were put aside because they refer to what the server doesn't have.
    var hasDeferredReferences: Bool { hasRefused(with: .referenceViolation) }

    /// Whether changes were put aside that a later schema of the server may take.
    var hasInvalidArguments: Bool { hasRefused(with: .invalidArguments) }

    private func hasRefused(with code: CKError.Code) -> Bool {
        refused.contains { if case .refused(_, code, _) = $0 { true } else { false } }
    }
}
