internal import CloudKit
package import Foundation

extension SyncEngine {
    /// The sync status of the account in use.
    package var status: CloudSyncStatus {
        let databases = databasesInUse
        let pause = pause(of: databases)
        return CloudSyncStatus(
            isSyncing: databases.contains { $0.running != nil },
            pendingCount: databases.reduce(0) { $0 + $1.count.pending }, pause: pause?.because,
            pauseEndDate: pause?.untilMilliseconds.map(Date.init(milliseconds:)),
            problems: databases.flatMap(\.problems), lastResponseDate: lastResponseDate)
    }

    /// Time of the server's last response to the account in use.
    package var lastResponseDate: Date? {
        databasesInUse.compactMap(\.lastResponseMilliseconds).max().map(Date.init(milliseconds:))
    }

    private var databasesInUse: [DatabaseSyncState] {
        databases.keys.filter { $0.account == account }.sorted().compactMap { databases[$0] }
    }

    /// Why the databases without running work wait, and until when. Nil if none waits for anything but the solution of
    /// its problem.
    private func pause(of databases: [DatabaseSyncState]) -> (
        because: CloudSyncPause, untilMilliseconds: Int64?
    )? {
        let waiting = databases.filter { $0.hasWork && $0.running == nil }
        var pauses = waiting.compactMap(\.retry.pause)
        if let countPause { pauses.append((countPause.untilMilliseconds, .localDatabase)) }
        if let first = pauses.min(by: { $0.untilMilliseconds < $1.untilMilliseconds }) {
            return (first.because, first.untilMilliseconds)
        }
        if !isLockHeld, !waiting.isEmpty { return (.otherProcess, nil) }
        // A database that a problem stops doesn't count as waiting, unless it is suspended too.
        if waiting.contains(where: { suspendCount > 0 || !$0.isStopped }) { return (.suspended, nil) }
        // Nothing of this account is pending. Changes of another account may be, and must be reported.
        let waitsElsewhere = self.databases.contains {
            $0.key.account != account && $0.value.count.pending > 0
        }
        return waitsElsewhere && !databases.contains(where: \.hasWork) ? (.anotherAccount, nil) : nil
    }

    // MARK: The server's responses

    /// Notes that the server responded. No status is reported for that.
    package mutating func serverResponded(_ key: DatabaseKey, now: Int64) {
        databases[current(key)]?.lastResponseMilliseconds = now
    }

    /// Notes the server's response if the event reports one.
    mutating func noteResponse(_ event: SyncEvent, now: Int64) {
        guard let key = event.respondedDatabase.map({ event.isFromOutside ? current($0) : $0 }) else {
            return
        }
        databases[key]?.lastResponseMilliseconds = now
        databases[key]?.retry.refusedConnection = nil
    }
}

extension Date {
    fileprivate init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}

extension DatabaseSyncState {
    /// The problems that the app or the user must solve.
    fileprivate var problems: [CloudSyncProblem] {
        // The problem remains while the connection is tried again.
        let isTried = retry.pause != nil || running?.work.isRemote == true
        let connection = isTried && hasWork ? retry.refusedConnection : nil
        let quota: [CloudSyncProblem] = stopsSaves ? [.quotaExceeded] : []
        return [stop, connection].compactMap { $0 } + quota + count.quarantined + count.differingZones
    }

    private var stopsSaves: Bool { uploads.isQuotaFull && count.pending > 0 }

    /// Whether a problem is the reason that no work begins.
    fileprivate var isStopped: Bool { stop != nil || stopsSaves }
}

extension QueueCount {
    /// Whether changes are quarantined because they refer to records that the server doesn't have.
    var hasDeferredReferences: Bool { hasQuarantined(with: .referenceViolation) }

    /// Whether changes are quarantined that a later schema of the server may take.
    var hasInvalidArguments: Bool { hasQuarantined(with: .invalidArguments) }

    private func hasQuarantined(with code: CKError.Code) -> Bool {
        quarantined.contains { if case .refused(_, code, _) = $0 { true } else { false } }
    }
}
