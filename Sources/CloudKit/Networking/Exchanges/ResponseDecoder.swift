package import CloudWire
import Foundation

/// Decodes the bodies of responses.
package enum ResponseDecoder {
    /// Returns the message in `reply`.
    /// - Throws: the network's error, the server's error, or `CKError.serverResponseLost` for a body that is neither a
    ///   message nor an error.
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

    /// Returns the error in an unsuccessful response.
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
    /// Identifies the request in the server's log.
    var requestID: String? { header("X-Apple-Request-UUID") ?? header("X-Request-ID") }

    /// The seconds in the header `Retry-After`. Nil for a date, which is useless if the clocks differ.
    fileprivate var retryAfterSeconds: Double? {
        header("Retry-After").flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }
}

extension RequestAddress {
    /// Returns the server's error for one item of a response, with the names of the item.
    func error(
        _ error: WireError, in reply: Result<WireResponse, CKError>, record: CKRecordID? = nil,
        zone: CKRecordZoneID? = nil, userInfo: [String: Any] = [:]
    ) -> CKError {
        CKError(error, userInfo: userInfo).naming(
            record: record, zone: zone, container: containerIdentifier, request: reply.value?.requestID)
    }
}
