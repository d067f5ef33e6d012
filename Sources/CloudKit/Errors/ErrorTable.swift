internal import CloudWire
import Foundation
package import HTTPClient

/// The one place where the wire's errors, HTTP's statuses and the network's failures become CloudKit's codes.
enum ErrorTable {
    struct Row: Sendable {
        var serverErrorCode: ServerErrorCode
        /// Words of the reason that distinguish this row from others with its code; nil for the others.
        var reason: String?
        var code: CKError.Code
    }

    /// The rows of the wire's codes. The first match applies.
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

    /// The code of an item with an unknown wire code.
    static let unknownItemCode = CKError.Code.serverRejectedRequest

    /// The codes of whole responses by their HTTP status, for bodies that aren't the protocol's or have an unknown
    /// code. The first row with the status applies; the last row has them all.
    static let statuses: [(statuses: ClosedRange<Int>, code: CKError.Code)] = [
        // A successful response without its body: the server may have executed the request.
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

    /// Returns the code for `error`: the code that our server names, otherwise the table's.
    /// - Parameter status: the HTTP status if the whole request was rejected; nil for one item of a response.
    static func code(for error: WireError, status: Int? = nil) -> CKError.Code {
        if let number = error.ckErrorCode, let code = CKError.Code(rawValue: number) { return code }
        if error.tokenRefusal != nil { return .changeTokenExpired }
        let row = rows.first { row in
            row.serverErrorCode == error.serverErrorCode
                && (row.reason.map { error.reason?.contains($0) ?? false } ?? true)
        }
        return row?.code ?? status.map { code(forStatus: $0) } ?? unknownItemCode
    }

    /// Returns the code for a response that isn't the protocol's, by its HTTP status.
    static func code(forStatus status: Int) -> CKError.Code {
        statuses.first { $0.statuses.contains(status) }?.code ?? unknownItemCode
    }

    /// Returns the code of a network error, and the text before the network's own message.
    static func network(_ code: HTTPClientError.Code) -> (code: CKError.Code, words: String?) {
        switch code {
        case .couldNotResolve, .couldNotConnect: (.networkUnavailable, "The server can't be reached")
        case .tlsRefused: (.networkFailure, "The TLS handshake with the server failed")
        case .untrustedCertificate: (.networkFailure, "The server's certificate isn't trusted")
        case .certificateOfOtherName: (.networkFailure, "The server's certificate is for another name")
        case .certificateOfOtherTime: (.networkFailure, "The server's certificate isn't valid now")
        case .noAuthorities:
            (.networkFailure, "The file with the trusted certificates can't be read")
        case .notTLS:
            (.networkFailure, "The server's URL begins with https://, but its port uses plain HTTP")
        case .needsTLS:
            (.networkFailure, "The server's URL begins with http://, but its port uses HTTPS")
        case .timedOut: (.networkFailure, "The server didn't respond in time")
        case .noAnswer: (.networkFailure, "The connection ended without a response")
        case .invalidResponse: (.networkFailure, "The response isn't HTTP")
        // A response has begun, so the server has executed the request.
        case .cutShort, .responseTooLarge: (.serverResponseLost, "The response is lost")
        case .cancelled: (.operationCancelled, "The operation was cancelled")
        case .stopped: (.operationCancelled, nil)
        case .tooManyWaiting: (.requestRateLimited, nil)
        case .invalidRequest: (.invalidArguments, nil)
        case .bodyFailed, .internalError: (.internalError, nil)
        }
    }

    /// Seconds after which to try again if the client has too many open requests.
    static let tooManySeconds = 2.0
}

extension CKError {
    /// Converts the server's error for the app.
    /// - Parameter status: the HTTP status if the whole request was rejected; nil for one item of a response.
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

    /// Converts a network error to Apple's codes.
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

    /// True if a request that failed so failed for its zone: then each of its items did, and other zones may do.
    var isOfOneZone: Bool {
        [.zoneNotFound, .userDeletedZone, .batchRequestFailed].contains(code)
    }

    /// A response that can't be read. The server may have executed the request.
    static func unreadable(_ problem: String) -> CKError {
        CKError(.serverResponseLost, "The server's response can't be read: \(problem)")
    }
}
