extension WireError {
    /// Maximum bytes of a reason. Reasons can contain a path or a name as long as the request.
    package static let reasonBytesMax = 2_048

    /// The reason, shortened to the maximum length.
    package var boundedReason: String? {
        guard let reason, reason.utf8.count > Self.reasonBytesMax else { return reason }
        return String(decoding: reason.utf8.prefix(Self.reasonBytesMax), as: UTF8.self) + "..."
    }

    /// Returns the response to a request that failed as a whole.
    ///
    /// - Parameters:
    ///   - requestID: The server's name for the request, or nil if it has none.
    ///   - extras: True to add our own keys and header.
    package func response(requestID: String?, extras: Bool) -> WireResponse {
        var error = self
        error.uuid = requestID
        error.reason = boundedReason
        let body = (try? error.json(extras: extras)) ?? Array(#"{"serverErrorCode":"INTERNAL_ERROR"}"#.utf8)
        var response = WireResponse(json: body, extras: extras, status: serverErrorCode.httpStatus)
        response.note.errorCode = serverErrorCode.rawValue
        if let retryAfterSeconds {
            response.headers.append(("Retry-After", String(Int(retryAfterSeconds.rounded(.up)))))
        }
        return response
    }
}

extension WireResponse {
    /// Makes a response with a body of JSON.
    ///
    /// - Parameter extras: True to add our own header.
    package init(json body: [UInt8], extras: Bool, status: Int = 200) {
        var headers = [(name: "Content-Type", value: "application/json; charset=UTF-8")]
        if extras { headers.append((WireHeader.protocolVersion, "1")) }
        self.init(status: status, headers: headers, body: body)
    }
}
