import CloudWire
import Seams

extension CloudService {
    /// Encodes an answer.
    func response(to request: PreparedRequest, answer: ServiceAnswer) -> WireResponse {
        switch answer {
        case .error(let error):
            return response(error, request.wantsExtras)
        case .message(let message, let numbersAsStrings):
            do {
                let body = try message.json(extras: request.wantsExtras, numbersAsStrings: numbersAsStrings)
                return response(body, request.wantsExtras)
            } catch {
                return response(
                    ServiceError.internalError("the answer can't be written: \(error)"), request.wantsExtras)
            }
        }
    }

    private func response(_ body: [UInt8], _ extras: Bool, status: Int = 200) -> WireResponse {
        var headers = [(name: "Content-Type", value: "application/json; charset=UTF-8")]
        if extras { headers.append((WireHeader.protocolVersion, "1")) }
        return WireResponse(status: status, headers: headers, body: body)
    }

    /// The answer to a request that failed as a whole.
    private func response(_ error: WireError, _ extras: Bool) -> WireResponse {
        var error = error
        error.uuid = random.nextUUID().lowercased()
        let body = (try? error.json(extras: extras)) ?? Array(#"{"serverErrorCode":"INTERNAL_ERROR"}"#.utf8)
        var response = response(body, extras, status: error.serverErrorCode.httpStatus)
        if let seconds = error.retryAfterSeconds {
            response.headers.append(("Retry-After", String(Int(seconds.rounded(.up)))))
        }
        return response
    }
}
