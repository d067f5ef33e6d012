internal import CloudWire

/// The one place where the wire's errors become CloudKit's.
enum ErrorTable {
    struct Row: Sendable {
        var serverErrorCode: ServerErrorCode
        /// Words of the reason that single this row out among those of its code; nil for the rest.
        var reason: String?
        var code: CKError.Code
    }

    /// The rows, looked at in this order.
    static let rows: [Row] = [
        Row(serverErrorCode: .conflict, code: .serverRecordChanged),
        Row(serverErrorCode: .exists, code: .serverRecordChanged),
        Row(serverErrorCode: .serverRecordChanged, code: .serverRecordChanged),
        Row(serverErrorCode: .atomicError, code: .batchRequestFailed),
        Row(serverErrorCode: .notFound, code: .unknownItem),
        Row(serverErrorCode: .zoneNotFound, code: .zoneNotFound),
        Row(serverErrorCode: .zoneBusy, code: .zoneBusy),
        Row(serverErrorCode: .throttled, code: .requestRateLimited),
        Row(serverErrorCode: .tryAgainLater, code: .serviceUnavailable),
        Row(serverErrorCode: .quotaExceeded, code: .quotaExceeded),
        Row(serverErrorCode: .validatingReferenceError, code: .referenceViolation),
        Row(serverErrorCode: .uniqueFieldError, code: .constraintViolation),
        Row(serverErrorCode: .accessDenied, code: .permissionFailure),
        Row(serverErrorCode: .authenticationFailed, code: .notAuthenticated),
        Row(serverErrorCode: .authenticationRequired, code: .notAuthenticated),
        Row(
            serverErrorCode: .badRequest, reason: "client knowledge differs from server knowledge",
            code: .changeTokenExpired),
        Row(
            serverErrorCode: .badRequest, reason: "maximum number of items in a single request",
            code: .limitExceeded),
        Row(serverErrorCode: .badRequest, code: .invalidArguments),
        Row(serverErrorCode: .internalError, code: .internalError),
    ]

    /// The code for `error`: the one that a server of ours names, else the table's.
    static func code(for error: WireError) -> CKError.Code {
        if let number = error.ckErrorCode, let code = CKError.Code(rawValue: number) { return code }
        if error.tokenRefusal != nil { return .changeTokenExpired }
        let row = rows.first { row in
            row.serverErrorCode == error.serverErrorCode
                && (row.reason.map { error.reason?.contains($0) ?? false } ?? true)
        }
        return row?.code ?? .serverRejectedRequest
    }

    /// The code for an answer that isn't the protocol's, by its HTTP status.
    static func code(forStatus status: Int) -> CKError.Code {
        switch status {
        case 401, 421: .notAuthenticated
        case 403: .permissionFailure
        case 413: .limitExceeded
        case 429: .requestRateLimited
        case 500...: .serviceUnavailable
        default: .serverRejectedRequest
        }
    }
}

extension CKError {
    /// What the server refused, as the app sees it.
    init(_ error: WireError, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        if let refusal = error.tokenRefusal {
            userInfo[ChangeTokenRefusal.userInfoKey] = refusal.rawValue
        }
        userInfo["ServerErrorDescription"] = error.reason
        userInfo["RequestUUID"] = error.uuid
        let code = ErrorTable.code(for: error)
        self.init(
            code, error.reason ?? code.summary, retryAfterSeconds: error.retryAfterSeconds,
            userInfo: userInfo)
    }

    /// Whether a request that failed so failed for its zone: then each of its items did, and other zones may
    /// do.
    var isOfOneZone: Bool {
        [.zoneNotFound, .userDeletedZone, .batchRequestFailed].contains(code)
    }

    /// An answer that can't be read: the server may have done what it was asked.
    static func unreadable(_ problem: String) -> CKError {
        CKError(.serverResponseLost, "The server's answer can't be read: \(problem)")
    }
}
