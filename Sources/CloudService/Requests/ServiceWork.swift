import CloudStore
import CloudWire

/// A decoded request that is ready for the store.
struct PreparedRequest: Sendable {
    let work: ServiceWork
    let bytes: Int
    let wantsExtras: Bool
    /// The server's ID of the request.
    var requestID: String?
    /// The calling user, for the log.
    var userRecordName: String?
    /// Additions to the response by authentication.
    var additions = AnswerAdditions()
    /// The address of its records' files, or nil if the request has no valid route.
    var assets: AssetAddress?
    /// Details for the request history. Nil if the request isn't traced.
    var trace: RequestTrace?
}

/// The remaining work of a request. A closure may run again if its group has failed.
enum ServiceWork: Sendable {
    typealias Read = @Sendable (any CloudStoreReader) throws -> ServiceAnswer
    typealias Write = @Sendable (any CloudStoreWriter) throws -> ServiceAnswer

    case answer(ServiceAnswer)
    case read(Read)
    case write(Write)

    /// Answers a request in a transaction of its own.
    func answerAlone(in store: any CloudStore) -> ServiceAnswer {
        do {
            switch self {
            case .answer(let answer): return answer
            case .read(let body): return try store.read { try body($0) }
            case .write(let body): return try store.write { try body($0) }
            }
        } catch {
            return .error(ServiceFailure.wireError(error))
        }
    }
}

/// A response that isn't encoded yet, so that the writer doesn't spend the time.
enum ServiceAnswer: Sendable {
    case message(any JSONMessage, numbersAsStrings: Bool = false, ifTooLarge: OversizePolicy = .refuse)
    /// A response to a write that includes rows read after the write, so that the writer doesn't read them.
    /// If they can't be read, the other response is sent, because the write is done.
    indirect case readLater(ServiceWork.Read, otherwise: ServiceAnswer)
    case error(WireError)
    /// A push for a waiting device.
    case push(CourierPush)
    case nothing
}

/// How a response with too many bytes of JSON is reduced.
enum OversizePolicy: Sendable {
    /// The request is rejected, and the client should request less.
    case refuse
    /// The page ends earlier.
    case ask(ServiceWork.Read)
    /// The response is sent anyway, so that each saved record can be fetched.
    case send
    /// The response to a write omits the fields, because the write can't be undone.
    case tellInBrief
}

/// Converts thrown errors to errors on the wire.
enum ServiceFailure {
    static let retryAfterSeconds: Double = 5

    static func wireError(_ error: any Error) -> WireError {
        switch error {
        case let error as WireError:
            return error
        case let error as JSONError:
            return ServiceError.badRequest("\(error)")
        case CloudStoreError.diskFull, CloudStoreError.diskFailing, CloudStoreError.cannotOpen,
            CloudStoreError.busy:
            return ServiceError.tryAgainLater(
                "the service can't use its disk at the moment; nothing was saved",
                retryAfterSeconds: retryAfterSeconds)
        case CloudStoreError.tooManyRows(let rowsMax):
            return ServiceError.limitExceeded(
                "the request writes or removes more than \(rowsMax) rows, index entries and references counted; change "
                    + "fewer records at a time, and first delete the records that the cascade would delete")
        default:
            // Only the operator may see the path of a file.
            return ServiceError.internalError(
                "the service could not read or write its data")
        }
    }
}
