internal import CloudWire
import Foundation
package import HTTPClient

/// The one place where the wire's errors, HTTP's statuses and the network's failures become CloudKit's codes.
enum ErrorTable {
    struct Row: Sendable {
        var serverErrorCode: ServerErrorCode
        /// Words of the reason that single this row out among those of its code; nil for the rest.
        var reason: String?
        var code: CKError.Code
    }

    /// The rows of the wire's codes, looked at in this order.
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
        Row(
            serverErrorCode: .badRequest, reason: "endpoint not applicable in the database type",
            code: .badDatabase),
        Row(
            serverErrorCode: .badRequest, reason: "Did not find record type",
            code: .unknownItem),
        Row(serverErrorCode: .badRequest, code: .invalidArguments),
        Row(serverErrorCode: .internalError, code: .internalError),
    ]

    /// The code of an item whose wire code isn't in the table: the server refused it, and only it knows why.
    static let unknownItemCode = CKError.Code.serverRejectedRequest

    /// What a whole answer says by its HTTP status alone, when its body isn't the protocol's or names a code that
    /// isn't in the table. The first row that holds the status counts; the last holds them all.
    static let statuses: [(statuses: ClosedRange<Int>, code: CKError.Code)] = [
        // An answer of success that lacks its body: the server may have done what it was asked.
        (200...299, .serverResponseLost),
        (401...401, .notAuthenticated),
        (403...403, .permissionFailure),
        (408...408, .networkFailure),
        (413...413, .limitExceeded),
        (421...421, .notAuthenticated),
        (429...429, .requestRateLimited),
        (500...599, .serviceUnavailable),
        (Int.min...Int.max, .serverRejectedRequest),
    ]

    /// The code for `error`: the one that a server of ours names, else the table's.
    /// - Parameter status: the HTTP status when the whole request was refused; nil for one item of an answer.
    static func code(for error: WireError, status: Int? = nil) -> CKError.Code {
        if let number = error.ckErrorCode, let code = CKError.Code(rawValue: number) { return code }
        if error.tokenRefusal != nil { return .changeTokenExpired }
        let row = rows.first { row in
            row.serverErrorCode == error.serverErrorCode
                && (row.reason.map { error.reason?.contains($0) ?? false } ?? true)
        }
        return row?.code ?? status.map { code(forStatus: $0) } ?? unknownItemCode
    }

    /// The code for an answer that isn't the protocol's, by its HTTP status.
    static func code(forStatus status: Int) -> CKError.Code {
        statuses.first { $0.statuses.contains(status) }?.code ?? unknownItemCode
    }

    /// What the network did, as a code and the words before the network's own.
    static func network(_ code: HTTPClientError.Code) -> (code: CKError.Code, words: String?) {
        switch code {
        case .couldNotResolve, .couldNotConnect: (.networkUnavailable, "The server can't be reached")
        case .tlsRefused: (.networkFailure, "TLS couldn't be agreed on with the server")
        case .untrustedCertificate: (.networkFailure, "The server's certificate isn't trusted")
        case .certificateOfOtherName: (.networkFailure, "The server's certificate is for another name")
        case .certificateOfOtherTime: (.networkFailure, "The server's certificate isn't good at this time")
        case .noAuthorities:
            (.networkFailure, "The file with the certificates to trust can't be read")
        case .notTLS:
            (.networkFailure, "The server's address begins with https://, and its port speaks plain http")
        case .needsTLS:
            (.networkFailure, "The server's address begins with http://, and its port speaks https")
        case .timedOut: (.networkFailure, "No answer came in time")
        case .noAnswer: (.networkFailure, "The connection ended without an answer")
        case .invalidResponse: (.networkFailure, "What answers isn't an HTTP server")
        // An answer began: the server has done what it was asked.
        case .cutShort, .responseTooLarge: (.serverResponseLost, "The answer is lost")
        case .cancelled: (.operationCancelled, "The operation was cancelled")
        case .stopped: (.operationCancelled, nil)
        case .tooManyWaiting: (.requestRateLimited, nil)
        case .invalidRequest: (.invalidArguments, nil)
        case .bodyFailed, .internalError: (.internalError, nil)
        }
    }

    /// Seconds that an app is told to wait when it has more requests open than the client keeps.
    static let tooManySeconds = 2.0
}

extension CKError {
    /// What the server refused, as the app sees it.
    /// - Parameter status: the HTTP status when the whole request was refused; nil for one item of an answer.
    init(_ error: WireError, status: Int? = nil, userInfo: [String: Any] = [:]) {
        var userInfo = userInfo
        if let refusal = error.tokenRefusal {
            userInfo[ChangeTokenRefusal.userInfoKey] = refusal.rawValue
        }
        if error.zoneWasDeleted { userInfo[ChangeTokenRefusal.zoneWasDeletedKey] = true }
        userInfo[ErrorKey.serverReason] = error.reason
        if let uuid = error.uuid { userInfo[ErrorKey.request] = uuid }
        userInfo[ErrorKey.redirectURL] = error.redirectURL
        let code = ErrorTable.code(for: error, status: status)
        self.init(
            code, error.reason ?? "\(error.serverErrorCode.rawValue): \(code.summary)",
            retryAfterSeconds: error.retryAfterSeconds, userInfo: userInfo)
    }

    /// What the network did, in Apple's codes.
    package init(_ error: HTTPClientError) {
        let (code, words) = ErrorTable.network(error.code)
        var userInfo: [String: Any] = [:]
        userInfo[ConnectionRefusal.userInfoKey] = ConnectionRefusal(error.code)?.rawValue
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = ConnectionRefusal.remedy(error.code)
        self.init(
            code, [words, error.message].compactMap { $0 }.joined(separator: ": "),
            retryAfterSeconds: error.code == .tooManyWaiting ? ErrorTable.tooManySeconds : nil,
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
