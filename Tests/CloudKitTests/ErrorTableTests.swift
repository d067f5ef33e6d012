import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import HTTPClient
import Testing

@testable import CloudKit

/// Walks the table of errors: each code of the wire as an item's and as the whole request's, each HTTP status, and each
/// thing that the network does.
@Suite struct ErrorTableTests {
    static let wire: [ServerErrorCode: CKError.Code] = [
        .accessDenied: .permissionFailure, .atomicError: .batchRequestFailed,
        .authenticationFailed: .notAuthenticated, .authenticationRequired: .notAuthenticated,
        .badRequest: .invalidArguments, .conflict: .serverRecordChanged, .exists: .serverRecordChanged,
        .internalError: .internalError, .notFound: .unknownItem, .quotaExceeded: .quotaExceeded,
        .throttled: .requestRateLimited, .tryAgainLater: .serviceUnavailable,
        .validatingReferenceError: .referenceViolation, .zoneNotFound: .zoneNotFound,
        .uniqueFieldError: .constraintViolation, .zoneBusy: .zoneBusy,
        .serverRecordChanged: .serverRecordChanged,
    ]

    /// Those of them whose reason says more than the code.
    static let reasons: [(String, CKError.Code)] = [
        ("BadRequestException: client knowledge differs from server knowledge", .changeTokenExpired),
        (
            "Your request contains 492 items which is more than the maximum number of items in a single request (400)",
            .limitExceeded
        ),
        (
            "BadRequestException: endpoint not applicable in the database type 'privatedb'", .badDatabase
        ),
        ("Did not find record type: todo", .unknownItem),
        ("Field 'recordName' is not marked queryable", .invalidArguments),
    ]

    static let statuses: [Int: CKError.Code] = [
        401: .notAuthenticated, 403: .permissionFailure, 408: .networkFailure, 413: .limitExceeded,
        421: .notAuthenticated, 429: .requestRateLimited,
    ]

    static let network: [HTTPClientError.Code: CKError.Code] = [
        .couldNotResolve: .networkUnavailable, .couldNotConnect: .networkUnavailable,
        .tlsRefused: .networkFailure, .untrustedCertificate: .networkFailure,
        .certificateOfOtherName: .networkFailure, .certificateOfOtherTime: .networkFailure,
        .noAuthorities: .networkFailure, .notTLS: .networkFailure, .needsTLS: .networkFailure,
        .timedOut: .networkFailure, .noAnswer: .networkFailure,
        .invalidResponse: .networkFailure, .cutShort: .serverResponseLost,
        .responseTooLarge: .serverResponseLost, .cancelled: .operationCancelled,
        .stopped: .operationCancelled, .tooManyWaiting: .requestRateLimited,
        .invalidRequest: .invalidArguments, .bodyFailed: .internalError, .internalError: .internalError,
    ]

    /// What an app gets that fetches one record, when the server answers so.
    private func thrown(_ status: Int, _ body: String) async -> CKError? {
        let transport = ScriptedTransport([.success(WireResponse(status: status, body: Array(body.utf8)))])
        do {
            _ = try await transport.database.record(for: CKRecord.ID(recordName: "1"))
            Issue.record("nothing was thrown for \(status) \(body)")
            return nil
        } catch {
            return error as? CKError
        }
    }

    private func item(_ code: String, _ reason: String = "why") -> String {
        #"{"records":[{"recordName":"1","serverErrorCode":"\#(code)","reason":"\#(reason)"}]}"#
    }

    private func whole(_ code: String, _ reason: String = "why") -> String {
        #"{"uuid":"u","serverErrorCode":"\#(code)","reason":"\#(reason)"}"#
    }

    @Test func everyCodeOfTheWireIsOneCodeAsAnItemAndAsTheWhole() async {
        #expect(Set(ErrorTable.rows.map(\.serverErrorCode)) == Set(Self.wire.keys))
        #expect(ErrorTable.rows.filter { $0.reason == nil }.count == Self.wire.count, "one row to a code")
        for (wire, code) in Self.wire {
            #expect(await thrown(200, item(wire.rawValue))?.code == code, "\(wire)")
            // Whatever its status: the code counts.
            for status in [wire.httpStatus, 400, 500, 503] {
                #expect(await thrown(status, whole(wire.rawValue))?.code == code, "\(wire) \(status)")
            }
        }
    }

    @Test func aReasonThatSaysMoreThanItsCodeIsHeard() async {
        #expect(Self.reasons.count == ErrorTable.rows.filter { $0.reason != nil }.count + 1)
        for (reason, code) in Self.reasons {
            #expect(await thrown(200, item("BAD_REQUEST", reason))?.code == code, "\(reason)")
            #expect(await thrown(400, whole("BAD_REQUEST", reason))?.code == code, "\(reason)")
        }
    }

    @Test func anUnknownCodeIsARejectionAndForAWholeRequestItsStatusDecides() async {
        #expect(await thrown(200, item("BRAND_NEW"))?.code == .serverRejectedRequest)
        for (status, code) in Self.statuses {
            #expect(await thrown(status, whole("BRAND_NEW"))?.code == code, "\(status)")
        }
        #expect(await thrown(400, whole("BRAND_NEW"))?.code == .serverRejectedRequest)
        #expect(await thrown(503, whole("BRAND_NEW"))?.code == .serviceUnavailable)
        let error = await thrown(503, whole("BRAND_NEW"))
        #expect(error?.userInfo["ServerErrorDescription"] as? String == "why")
    }

    @Test func everyStatusWithoutTheProtocolsBodyIsOneCode() async {
        for status in 100...999 {
            let expected =
                Self.statuses[status]
                ?? ((200..<300).contains(status)
                    ? .serverResponseLost
                    : (500..<600).contains(status) ? .serviceUnavailable : .serverRejectedRequest)
            #expect(await thrown(status, "<html>")?.code == expected, "\(status)")
        }
    }

    @Test func everythingThatTheNetworkDoesIsOneCode() {
        #expect(Set(HTTPClientError.Code.allCases) == Set(Self.network.keys))
        for (code, expected) in Self.network {
            let error = CKError(HTTPClientError(code, "why"))
            #expect(error.code == expected, "\(code)")
            #expect((error.retryAfterSeconds != nil) == (expected == .requestRateLimited), "\(code)")
            #expect(error.localizedDescription.contains("why"), "\(code)")
        }
    }

    /// What each refusal of a connection says is to be done.
    static let connections: [(HTTPClientError.Code, ConnectionRefusal, String)] = [
        (.untrustedCertificate, .certificate, "CLOUDKIT_AUTHORITIES_FILE"),
        (.certificateOfOtherName, .certificate, "CLOUDKIT_SERVER"),
        (.certificateOfOtherTime, .certificate, "clock"),
        (.noAuthorities, .certificate, "CLOUDKIT_AUTHORITIES_FILE"),
        (.notTLS, .scheme, "http://"), (.needsTLS, .scheme, "https://"),
    ]

    @Test func anUnusableServerIsDistinguishedFromAMissingNetwork() {
        for (code, refusal, remedy) in Self.connections {
            let error = CKError(HTTPClientError(code, "why"))
            #expect(error.connectionRefusal == refusal, "\(code)")
            #expect("\(error)".contains(remedy), "\(error)")
            #expect((error as NSError).localizedRecoverySuggestion?.contains(remedy) == true, "\(code)")
            #expect(error.naming(container: "c").connectionRefusal == refusal, "also with names")
        }
        for code in HTTPClientError.Code.allCases where !Self.connections.contains(where: { $0.0 == code }) {
            #expect(CKError(HTTPClientError(code, "why")).connectionRefusal == nil, "\(code)")
        }
    }
}
