internal import CloudKit

extension DatabaseSyncState {
    /// The zones of a database, and the work to do in them.
    struct Zones {
        var toCreate: [CKRecordZone.ID] = []
        var toFetch: [CKRecordZone.ID] = []
        /// Zones with changes that are fetched.
        var followed: [CKRecordZone.ID] = []
        /// Zones created since the last success. If the server still doesn't have one, the next request waits for a
        /// pause.
        var created: Set<CKRecordZone.ID> = []
        /// The zone that the user deleted on purpose. It is created again if the app calls `retry()`.
        var deletedByUser: CKRecordZone.ID?
        /// Zones without a token since their last page. If the server also rejects the fetch without a token, the
        /// next request waits for a pause.
        var withoutToken: Set<CKRecordZone.ID> = []

        var hasWork: Bool { !toFetch.isEmpty || !toCreate.isEmpty }

        /// The first zone to fetch that isn't to be created first.
        var nextToFetch: CKRecordZone.ID? { toFetch.first { !toCreate.contains($0) } }

        /// Returns the first of these zones that is followed and isn't to be created first.
        func firstFollowed(of zones: [CKRecordZone.ID]) -> CKRecordZone.ID? {
            zones.first { followed.contains($0) && !toCreate.contains($0) }
        }

        mutating func needCreate(_ zone: CKRecordZone.ID) {
            if !toCreate.contains(zone) { toCreate.append(zone) }
        }

        mutating func needFetch(_ zone: CKRecordZone.ID) {
            if !toFetch.contains(zone) { toFetch.append(zone) }
        }

        mutating func needFetchOfFollowed() {
            for zone in followed { needFetch(zone) }
        }
    }

    /// What is known of the uploads of a database.
    struct Uploads {
        /// The last conflict of a record.
        struct Conflict {
            var serverTag: String?
            var rounds: Int
        }

        /// Maximum number of times that an unanswered batch is sent before a fetch. A server that never answers the
        /// batch must not block the fetch.
        static let unansweredMax = 3

        var itemsMax = BatchLimits.itemsMax
        /// True while the user's storage is full. Nothing is saved until a deletion succeeds or the app calls
        /// `retry()`.
        var isQuotaFull = false
        /// True if no pending change is a deletion that can be sent while storage is full.
        var hasNoDeletions = false
        var conflicts: [CKRecord.ID: Conflict] = [:]
        /// Number of times that the server lost a record's file before the record was saved.
        var lostFiles: [CKRecord.ID: Int] = [:]
        /// Number of batches in a row without an answer; 0 if all were answered.
        var unansweredCount = 0

        /// Whether a batch without an answer is sent again before a fetch.
        var repeatsUnanswered: Bool { (1...Self.unansweredMax).contains(unansweredCount) }

        /// The limits of the next batch.
        var limits: BatchLimits {
            var limits = BatchLimits()
            limits.itemsMax = itemsMax
            limits.takesDeletionsOnly = isQuotaFull
            return limits
        }

        /// Notes the result of a batch, or its absence.
        mutating func noteAnswer(isJudged: Bool, _ error: CKError?) {
            guard let error, !isJudged else {
                unansweredCount = 0
                return
            }
            switch error.code {
            // Nothing was sent.
            case .networkUnavailable: break
            // A partial failure that isn't judged has a request without a response.
            case let code where code.leavesOutcomeUnknown || code == .partialFailure: unansweredCount += 1
            // A server that rejects the whole request reports nothing about the one before.
            default: unansweredCount += unansweredCount > 0 ? 1 : 0
            }
        }
    }

    /// When failed work is tried again.
    struct Retry {
        var backOff = BackOff()
        /// Nothing begins before its end.
        var pause: (untilMilliseconds: Int64, because: CloudSyncPause)?
        /// True if the network may have come back since the running work began. If the work then fails for want of a
        /// network, that may have happened before: it is tried again without a pause.
        var networkCameBackMeanwhile = false
        /// The problem of the connection that the end of the pause doesn't solve.
        var refusedConnection: CloudSyncProblem?
    }

    /// Notifications of other devices' changes.
    struct Notifications {
        /// Whether the app wants them.
        var isWanted = false
        /// Whether the adapter was requested to listen.
        var isListening = false
        /// True if the subscription must be saved. Without it the server sends no notifications.
        var needsSubscription = false
    }

    /// Which quarantined changes are sent again.
    struct QuarantineRetry {
        /// All of them, because the app called `retry()`.
        var retriesAll = false
        /// Those that the server found invalid: its schema may have changed.
        var retriesInvalid = false
        /// True if a record was saved since changes were quarantined because of missing references. Such changes may
        /// refer to it.
        var savedSinceDeferral = false

        /// - Parameter code: The error of the changes; nil for all changes.
        mutating func setRetries(onlyWith code: CKError.Code?, _ value: Bool) {
            switch code {
            case nil: retriesAll = value
            case .invalidArguments: retriesInvalid = value
            default: savedSinceDeferral = value
            }
        }
    }
}
