import CloudWire

/// The errors of the service, each with Apple's code and, for our own framework, the code of `CKError`.
enum ServiceError {
    /// Maximum bytes of a client's name in an error. `ServiceLimits.nameBytesMax` doesn't allow longer names.
    private static let repeatedNameBytesMax = 255

    static func badRequest(_ reason: String) -> WireError {
        WireError(.badRequest, reason: "BadRequestException: \(reason)", ckErrorCode: 12)
    }

    /// Too much in one request. Our framework splits the request in half.
    static func limitExceeded(_ reason: String) -> WireError {
        WireError(.badRequest, reason: "LimitExceeded: \(reason)", ckErrorCode: 27)
    }

    /// Returns the error for a response with too much JSON that can't be split into smaller pages.
    static func answerTooLarge(_ limits: ServiceLimits) -> WireError {
        limitExceeded(
            "the response has more than \(limits.answerBytesMax) bytes; request fewer records or fields")
    }

    static func notApplicable(_ scope: DatabaseScope) -> WireError {
        WireError(
            .badRequest,
            reason: "BadRequestException: endpoint not applicable in the database type '\(scope.rawValue)db'",
            ckErrorCode: 12)
    }

    static func noSuchEndpoint(_ path: String) -> WireError {
        WireError(.notFound, reason: "no endpoint at \(path)", ckErrorCode: 12)
    }

    static func noSuchContainer(_ container: String, environment: String) -> WireError {
        WireError(.notFound, reason: "no container \(container) in \(environment) here", ckErrorCode: 5)
    }

    static let authenticationRequired = WireError(
        .authenticationRequired, reason: "request needs authorization", ckErrorCode: 9)

    static let authenticationFailed = WireError(
        .authenticationFailed, reason: "Authentication failed", ckErrorCode: 9)

    static let zoneNotFound = WireError(.zoneNotFound, reason: "Zone does not exist", ckErrorCode: 26)

    /// Returns true if an error may include a name sent by the client. A response has an error for each of
    /// its items, so invalid names are omitted, including control characters, which take six bytes each in
    /// JSON.
    fileprivate static func repeats(_ name: String) -> Bool {
        name.utf8.count <= repeatedNameBytesMax && name.utf8.allSatisfy { $0 >= 0x20 }
    }

    static func zoneNotFound(_ zoneID: ZoneID) -> WireError {
        zoneNotFound.inZone(zoneID)
    }

    static func zoneExists(_ zoneID: ZoneID) -> WireError {
        WireError(.exists, reason: "Zone already exists", zoneID: zoneID, ckErrorCode: 15)
    }

    static let recordNotFound = WireError(.notFound, reason: "Record not found", ckErrorCode: 11)

    static let recordGone = WireError(
        .notFound, reason: "recordChangeTag specified, but record not found", ckErrorCode: 11)

    static func recordExists(_ serverRecord: WireRecord) -> WireError {
        WireError(
            .conflict, reason: "record to insert already exists", ckErrorCode: 14, serverRecord: serverRecord)
    }

    static func staleTag(_ serverRecord: WireRecord) -> WireError {
        WireError(
            .conflict, reason: "client oplock error updating record", ckErrorCode: 14,
            serverRecord: serverRecord)
    }

    static let atomicFailure = WireError(
        .atomicError, reason: "Record will not be saved because of previous error in atomic zone",
        ckErrorCode: 22)

    /// In the form of Apple's servers.
    private static func violation(_ field: String?, _ recordName: String, _ title: String) -> String {
        (field.map { "Field=\($0), " } ?? "") + "recordID=\(recordName), title=\(title), rejecting update"
    }

    static func missingTarget(_ recordName: String, field: String?) -> WireError {
        let title = "Record save would violate validating reference, the target does not exist"
        return WireError(
            .validatingReferenceError, reason: violation(field, recordName, title), ckErrorCode: 31)
    }

    /// Returns the error for a record that can be saved after its target. Our framework sends it again.
    static func failedTarget(_ recordName: String, field: String?) -> WireError {
        let title = "Record save depends on another of the same request, which failed"
        return WireError(
            .validatingReferenceError, reason: violation(field, recordName, title), ckErrorCode: 22)
    }

    static func stillReferred(by recordName: String, field: String?) -> WireError {
        let title = "Record delete would violate validating reference"
        return WireError(
            .validatingReferenceError, reason: violation(field, recordName, title), ckErrorCode: 31)
    }

    static func tooManyReferences(to recordName: String, field: String?, referencesMax: Int) -> WireError {
        badRequest(
            "\(field.map { "field '\($0)': " } ?? "")\(referencesMax) records refer to '\(recordName)' with "
                + "DELETE_SELF, which is the maximum")
    }

    static func circularParent(of recordName: String, parent: String) -> WireError {
        badRequest(
            recordName == parent
                ? "field 'parent': the record '\(recordName)' can't be its own parent"
                : "field 'parent': with '\(parent)' as its parent, the record '\(recordName)' would be its own "
                    + "ancestor")
    }

    static func tooManyAncestors(of recordName: String, ancestorsMax: Int) -> WireError {
        badRequest(
            "field 'parent': the record '\(recordName)' would have more than \(ancestorsMax) ancestors")
    }

    static func tooManyAncestors(ofRequest ancestorsMax: Int) -> WireError {
        limitExceeded(
            "the records of the request have more than \(ancestorsMax) ancestors; set fewer parents at a time"
        )
    }

    static func tokenRefused(
        _ refusal: WireError.TokenRefusal, zoneID: ZoneID? = nil, zoneWasDeleted: Bool = false
    ) -> WireError {
        var error = WireError(
            .badRequest, reason: "client knowledge differs from server knowledge", zoneID: zoneID,
            ckErrorCode: 21, tokenRefusal: refusal)
        error.zoneWasDeleted = zoneWasDeleted
        return error
    }

    static let subscriptionNotFound = WireError(.notFound, reason: "Subscription not found", ckErrorCode: 11)

    static func tooManySubscriptions(_ subscriptionsMax: Int) -> WireError {
        WireError(
            .quotaExceeded, reason: "a user can have up to \(subscriptionsMax) subscriptions in a database",
            ckErrorCode: 25)
    }

    static func tooManyZones(_ zonesMax: Int, _ zoneID: ZoneID) -> WireError {
        WireError(
            .quotaExceeded,
            reason:
                "a user can have up to \(zonesMax) zones; deleted zones count until their rows are discarded",
            zoneID: zoneID, ckErrorCode: 25)
    }

    static let unknownDeviceToken = WireError(
        .notFound, reason: "unknown or expired apnsToken: create one with tokens/create",
        ckErrorCode: 11)

    static func tryAgainLater(_ reason: String, retryAfterSeconds: Double) -> WireError {
        WireError(.tryAgainLater, reason: reason, retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)
    }

    static let deletedZonesInTheWay = tryAgainLater(
        "deleted zones are still being cleared: including them, the user's data exceeds twice the quota",
        retryAfterSeconds: 10)

    static let unreadableRecord = internalError("the stored record can't be read")

    static func internalError(_ reason: String) -> WireError {
        WireError(.internalError, reason: reason, ckErrorCode: 1)
    }
}

extension WireError {
    /// Returns the error with the record's name, unless no record can have that name. Then the error's index among the
    /// results identifies the record.
    func named(_ recordName: String?) -> WireError {
        var error = self
        error.recordName = recordName.flatMap { ServiceError.repeats($0) ? $0 : nil }
        return error
    }

    /// Returns the error with the subscription's ID, unless no subscription can have it.
    func ofSubscription(_ subscriptionID: String) -> WireError {
        var error = self
        error.subscriptionID = ServiceError.repeats(subscriptionID) ? subscriptionID : nil
        return error
    }

    /// Returns the error with the zone's name and owner, unless no zone can have them.
    func inZone(_ zoneID: ZoneID) -> WireError {
        var error = self
        let isRepeated =
            ServiceError.repeats(zoneID.zoneName) && ServiceError.repeats(zoneID.ownerRecordName ?? "")
        error.zoneID = isRepeated ? zoneID : nil
        return error
    }
}
