package import CloudWire
import Foundation

/// Reads the messages of answers.
package enum ResponseDecoder {
    /// The message in `reply`.
    /// - Throws: what the network did, what the server refused, or `CKError.serverResponseLost` for an answer
    ///   that is neither.
    package static func decode<Body: JSONMessage>(
        _ type: Body.Type, from reply: Result<WireResponse, CKError>
    ) throws(CKError) -> Body {
        let response = try reply.get()
        guard (200..<300).contains(response.status) else { throw refusal(response) }
        do {
            return try Body(json: response.body)
        } catch {
            throw CKError.unreadable("\(error)").naming(request: response.requestID)
        }
    }

    /// What an answer says that is none of success.
    static func refusal(_ response: WireResponse) -> CKError {
        guard let error = try? WireError(json: response.body) else {
            let code = ErrorTable.code(forStatus: response.status)
            return CKError(
                code, "HTTP \(response.status): \(code.summary)",
                retryAfterSeconds: response.retryAfterSeconds
            ).naming(request: response.requestID)
        }
        var userInfo: [String: Any] = [:]
        if error.retryAfterSeconds == nil, let seconds = response.retryAfterSeconds {
            userInfo[CKErrorRetryAfterKey] = NSNumber(value: seconds)
        }
        return CKError(error, status: response.status, userInfo: userInfo).naming(request: response.requestID)
    }
}

extension WireResponse {
    /// What names the request in the server's log.
    var requestID: String? { header("X-Apple-Request-UUID") ?? header("X-Request-ID") }

    /// What the header says about when to try again; nil for a date, which is as good as none when clocks differ.
    fileprivate var retryAfterSeconds: Double? {
        header("Retry-After").flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
}

extension RequestAddress {
    /// What the server refused of one item of an answer, with the names of what it is about.
    func error(
        _ error: WireError, in reply: Result<WireResponse, CKError>, record: CKRecordID? = nil,
        zone: CKRecordZoneID? = nil, userInfo: [String: Any] = [:]
    ) -> CKError {
        CKError(error, userInfo: userInfo).naming(
            record: record, zone: zone, container: containerIdentifier, request: reply.value?.requestID)
    }
}
