internal import CloudKit
package import Foundation

extension SyncEngine {
    /// How far the sync is, of the account in use.
    package var status: CloudSyncStatus {
        let lanes = lanesInUse
        let pause = pause(of: lanes)
        return CloudSyncStatus(
            isSyncing: lanes.contains { $0.running != nil },
            pendingCount: lanes.reduce(0) { $0 + $1.count.pending }, pause: pause?.because,
            pauseEndDate: pause?.untilMilliseconds.map(Date.init(milliseconds:)),
            problems: lanes.flatMap(\.problems), lastResponseDate: lastResponseDate)
    }

    /// When the server last responded, of the account in use.
    package var lastResponseDate: Date? {
        lanesInUse.compactMap(\.lastResponseMilliseconds).max().map(Date.init(milliseconds:))
    }

    private var lanesInUse: [SyncLane] {
        lanes.keys.filter { $0.account == account }.sorted().compactMap { lanes[$0] }
    }

    /// Why the databases in which nothing is under way wait, and until when; nil when none waits for anything but the
    /// solution of its problem.
    private func pause(of lanes: [SyncLane]) -> (because: CloudSyncPause, untilMilliseconds: Int64?)? {
        let waiting = lanes.filter { $0.hasWork && $0.running == nil }
        var pauses = waiting.compactMap(\.pause)
        if let countPause { pauses.append((countPause.untilMilliseconds, .localDatabase)) }
        if let first = pauses.min(by: { $0.untilMilliseconds < $1.untilMilliseconds }) {
            return (first.because, first.untilMilliseconds)
        }
        if !isOurTurn, !waiting.isEmpty { return (.otherProcess, nil) }
        // A database that its problem stops waits for nothing else, unless it is suspended too.
        if waiting.contains(where: { suspendCount > 0 || !$0.isStopped }) { return (.suspended, nil) }
        // Nothing of this account waits; of another one something may, and must not be forgotten for that.
        let waitsElsewhere = self.lanes.contains { $0.key.account != account && $0.value.count.pending > 0 }
        return waitsElsewhere && !lanes.contains(where: \.hasWork) ? (.anotherAccount, nil) : nil
    }

    // MARK: The server's responses

    /// Notes that the server responded, and changes nothing else: no status is told for it.
    package mutating func serverResponded(_ key: DatabaseKey, now: Int64) {
        lanes[current(key)]?.lastResponseMilliseconds = now
    }

    /// Notes the server's response that the event tells of, if it does.
    mutating func noteResponse(_ event: SyncEvent, now: Int64) {
        guard let key = event.respondedDatabase.map({ event.isFromOutside ? current($0) : $0 }) else {
            return
        }
        lanes[key]?.lastResponseMilliseconds = now
        lanes[key]?.refusedConnection = nil
    }
}

extension Date {
    fileprivate init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension SyncLane {
    /// What the app or the user has to deal with.
    fileprivate var problems: [CloudSyncProblem] {
        // While it is tried again it still stands.
        let isTried = pause != nil || running?.work.isRemote == true
        let connection = isTried && hasWork ? refusedConnection : nil
        let quota: [CloudSyncProblem] = stopsSaves ? [.quotaExceeded] : []
        return [stop, connection].compactMap { $0 } + quota + count.refused + count.differingZones
    }

    private var stopsSaves: Bool { isQuotaFull && count.pending > 0 }

    /// Whether a problem is why nothing more is begun.
    fileprivate var isStopped: Bool { stop != nil || stopsSaves }
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
