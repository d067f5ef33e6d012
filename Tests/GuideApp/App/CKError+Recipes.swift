import CloudKit
import Foundation

/// What the app asks an error.
extension CKError {
    /// Whether this is an error with `wanted`, or holds one for any of its items.
    func involves(_ wanted: CKError.Code) -> Bool {
        if code == wanted { return true }
        guard code == .partialFailure else { return false }
        return (partialErrorsByItemID ?? [:]).values.contains { ($0 as? CKError)?.code == wanted }
    }

    /// Whether what was asked for isn't in the cloud: neither it nor, perhaps, its zone.
    var isMissing: Bool { isZoneMissing || involves(.unknownItem) }

    /// Whether the zone isn't in the cloud.
    var isZoneMissing: Bool { involves(.zoneNotFound) || involves(.userDeletedZone) }

    /// Whether an item failed only because another one of its batch did.
    var isCausedByNeighbour: Bool { code == CKError.batchRequestFailed }

    /// The three versions of the first record that another device changed meanwhile.
    var conflict: RecipeConflict? {
        if code == .serverRecordChanged {
            guard let mine = clientRecord, let theirs = serverRecord else { return nil }
            return RecipeConflict(mine: mine, theirs: theirs, base: ancestorRecord)
        }
        for case let part as CKError in (partialErrorsByItemID ?? [:]).values {
            if let conflict = part.conflict { return conflict }
        }
        return nil
    }

    /// Seconds to wait, if the server asked for patience.
    var patienceSeconds: Double? {
        switch self {
        case CKError.zoneBusy, CKError.serviceUnavailable, CKError.requestRateLimited: retryAfterSeconds
        default: nil
        }
    }
}

/// Three versions of one record.
struct RecipeConflict {
    /// What this device wanted to save.
    let mine: CKRecord
    /// What the server has.
    let theirs: CKRecord
    /// What both began with, when this device had it.
    let base: CKRecord?
}

/// The same as `RecipeConflict` tells, as code reads it that gets `NSError`s from elsewhere.
struct OlderErrorReader {
    let userInfo: [String: Any]

    init(_ error: Error) {
        userInfo = (error as NSError).userInfo
    }

    var mine: CKRecord? { userInfo[CKRecordChangedErrorClientRecordKey] as? CKRecord }
    var theirs: CKRecord? { userInfo[CKRecordChangedErrorServerRecordKey] as? CKRecord }
    var base: CKRecord? { userInfo[CKRecordChangedErrorAncestorRecordKey] as? CKRecord }
    var parts: [AnyHashable: Error]? { userInfo[CKPartialErrorsByItemIDKey] as? [AnyHashable: Error] }
    var waitSeconds: NSNumber? { userInfo[CKErrorRetryAfterKey] as? NSNumber }
}
