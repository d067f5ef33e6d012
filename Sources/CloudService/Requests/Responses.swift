import CloudStore
import CloudWire
import System

/// Encodes responses.
struct Responses: Sendable {
    let store: any CloudStore
    let random: any RandomSource
    let limits: ServiceLimits
    let tickets: AssetTickets
    let rates: CallerRates

    /// Encodes a response. `groupRequests` other requests were in the same commit.
    func response(to request: PreparedRequest, answer: ServiceAnswer, groupRequests: Int = 0) -> WireResponse
    {
        var answer = answer
        if case .readLater(let read, let otherwise) = answer {
            answer = (try? store.read { try read($0) }) ?? otherwise
        }
        var response = encoded(answer, for: request)
        response.note.userRecordName = request.userRecordName
        rates.charge(request.userRecordName, answerBytes: response.body.count)
        response.note.refusesOrigin = request.additions.refusesOrigin
        response.headers += request.additions.headers
        response.note.groupRequests = groupRequests
        if case .message(let message, _, _) = answer { response.note.recordErrors = message.recordErrors }
        if case .read = request.work { response.note.isRead = true }
        if let trace = request.trace { response.note.detail = trace.finish(answer) }
        return response
    }

    private func encoded(_ answer: ServiceAnswer, for request: PreparedRequest) -> WireResponse {
        switch answer {
        case .error(let error):
            return response(error, request)
        case .nothing, .push, .readLater:
            return WireResponse(json: Array("{}".utf8), extras: request.wantsExtras)
        case .message(let message, let numbersAsStrings, let ifTooLarge):
            return encoded(message, numbersAsStrings, ifTooLarge, for: request)
        }
    }

    private func encoded(
        _ message: any JSONMessage, _ numbersAsStrings: Bool, _ ifTooLarge: OversizePolicy,
        for request: PreparedRequest
    ) -> WireResponse {
        func body(_ message: any JSONMessage) throws(JSONError) -> WireResponse {
            let bytesMax = if case .send = ifTooLarge { Int.max } else { limits.answerBytesMax }
            let json = try message.json(
                extras: request.wantsExtras, numbersAsStrings: numbersAsStrings,
                assets: tickets.form(for: request), bytesMax: bytesMax)
            return WireResponse(json: json, extras: request.wantsExtras)
        }
        func answer(_ message: any JSONMessage) throws(JSONError) -> WireResponse {
            do {
                return try body(message)
            } catch let error where error.code == .limitExceeded {
                switch ifTooLarge {
                case .ask(let smaller):
                    return encoded(ServiceWork.read(smaller).answerAlone(in: store), for: request)
                case .tellInBrief: return try body(message.brief ?? message)
                case .refuse, .send: return response(ServiceError.answerTooLarge(limits), request)
                }
            }
        }
        do {
            return try answer(message)
        } catch {
            // An unreadable record must not fail the others.
            if let readable = message.readable, let response = try? answer(readable) { return response }
            return response(ServiceError.internalError("the answer can't be written: \(error)"), request)
        }
    }

    /// Returns the response to a request that failed as a whole.
    private func response(_ error: WireError, _ request: PreparedRequest) -> WireResponse {
        request.trace?.failed(error)
        return error.response(
            requestID: request.requestID ?? random.nextUUID().lowercased(), extras: request.wantsExtras)
    }
}

extension JSONMessage {
    /// Number of records or zones with an error, by code.
    fileprivate var recordErrors: [String: Int] {
        let errors: [WireError] =
            switch self {
            case let answer as RecordsResponse:
                answer.records.compactMap { if case .error(let error) = $0 { error } else { nil } }
            case let answer as ZonesResponse:
                answer.zones.compactMap { if case .error(let error) = $0 { error } else { nil } }
            default: []
            }
        return errors.reduce(into: [:]) { $0[$1.serverErrorCode.rawValue, default: 0] += 1 }
    }

    /// Returns the response with an error in place of each unreadable record, or nil if it has no records.
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

    /// Returns the response to a write with only the names and tags of its records, or nil if it has no records.
    fileprivate var brief: (any JSONMessage)? {
        guard var answer = self as? RecordsResponse else { return nil }
        answer.records = answer.records.map(\.brief)
        return answer
    }
}

extension RecordResult {
    fileprivate var brief: RecordResult {
        switch self {
        case .tombstone: return self
        case .record(var record):
            (record.storedFields, record.fields, record.pluginFields) = (nil, [:], nil)
            return .record(record)
        case .error(var error):
            error.serverRecord = nil
            return .error(error)
        }
    }

    fileprivate var readable: RecordResult {
        switch self {
        case .record(let record) where !record.isReadable:
            return .error(ServiceError.unreadableRecord.named(record.recordName))
        case .error(var error) where error.serverRecord.map { !$0.isReadable } ?? false:
            error.serverRecord = nil
            return .error(error)
        default:
            return self
        }
    }
}

extension WireRecord {
    /// True if its stored fields can be read, if it has any.
    fileprivate var isReadable: Bool { storedFields.map { (try? FieldsBinary.decode($0)) != nil } ?? true }
}
