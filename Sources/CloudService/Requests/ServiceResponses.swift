import CloudWire
import Seams

extension CloudService {
    /// Encodes an answer, which came with `groupRequests` others in one commit.
    func response(to request: PreparedRequest, answer: ServiceAnswer, groupRequests: Int = 0) -> WireResponse
    {
        var response = encoded(answer, for: request)
        response.note.userRecordName = request.userRecordName
        response.note.refusesOrigin = request.additions.refusesOrigin
        response.headers += request.additions.headers
        response.note.groupRequests = groupRequests
        return response
    }

    private func encoded(_ answer: ServiceAnswer, for request: PreparedRequest) -> WireResponse {
        switch answer {
        case .error(let error):
            return response(error, request)
        case .nothing, .push:
            return response(Array("{}".utf8), request.wantsExtras)
        case .message(let message, let numbersAsStrings):
            func body(_ message: any JSONMessage) throws -> WireResponse {
                let json = try message.json(
                    extras: request.wantsExtras, numbersAsStrings: numbersAsStrings,
                    assets: assetForm(for: request))
                return response(json, request.wantsExtras)
            }
            do {
                return try body(message)
            } catch {
                // A stored record that can't be read must not take its neighbours along.
                if let readable = message.readable, let response = try? body(readable) { return response }
                return response(ServiceError.internalError("the answer can't be written: \(error)"), request)
            }
        }
    }

    private func response(_ body: [UInt8], _ extras: Bool, status: Int = 200) -> WireResponse {
        var headers = [(name: "Content-Type", value: "application/json; charset=UTF-8")]
        if extras { headers.append((WireHeader.protocolVersion, "1")) }
        return WireResponse(status: status, headers: headers, body: body)
    }

    /// The answer to a request that failed as a whole.
    private func response(_ error: WireError, _ request: PreparedRequest) -> WireResponse {
        var error = error
        error.uuid = request.requestID ?? random.nextUUID().lowercased()
        let body =
            (try? error.json(extras: request.wantsExtras))
            ?? Array(#"{"serverErrorCode":"INTERNAL_ERROR"}"#.utf8)
        var response = response(body, request.wantsExtras, status: error.serverErrorCode.httpStatus)
        response.note.errorCode = error.serverErrorCode.rawValue
        if let seconds = error.retryAfterSeconds {
            response.headers.append(("Retry-After", String(Int(seconds.rounded(.up)))))
        }
        return response
    }
}

extension JSONMessage {
    /// The same answer with an error in the place of each record whose stored fields can't be read; nil when it has no
    /// records.
    fileprivate var readable: (any JSONMessage)? {
        switch self {
        case var answer as RecordsResponse:
            answer.records = answer.records.map(\.readable)
            return answer
        case var answer as ChangesZoneResponse:
            answer.zones = answer.zones.map { zone in
                guard case .changes(var changes) = zone else { return zone }
                changes.records = changes.records.map(\.readable)
                return .changes(changes)
            }
            return answer
        default:
            return nil
        }
    }
}

extension RecordResult {
    fileprivate var readable: RecordResult {
        guard case .record(let record) = self, let fields = record.storedFields,
            (try? FieldsBinary.decode(fields)) == nil
        else { return self }
        return .error(ServiceError.unreadableRecord.named(record.recordName))
    }
}
