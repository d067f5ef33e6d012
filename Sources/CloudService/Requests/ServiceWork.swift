import CloudStore
import CloudWire

/// A request that has been read and waits for the store.
struct PreparedRequest: Sendable {
    let work: ServiceWork
    let bytes: Int
    let wantsExtras: Bool
    /// The server's name for the request.
    var requestID: String?
    /// The calling user, for the log.
    var userRecordName: String?
    /// What authentication adds to the response.
    var additions = AnswerAdditions()
    /// Where the files of its records are; nil when the request led nowhere.
    var assets: AssetAddress?
    /// What a request history wants to know of it; nil: nobody wants to.
    var trace: RequestTrace?
}

/// What is left to do for a request. A closure may run again when the group that it was in has failed.
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

/// A response that isn't encoded yet, so that the writer doesn't wait for that.
enum ServiceAnswer: Sendable {
    case message(any JSONMessage, numbersAsStrings: Bool = false, ifTooLarge: OversizePolicy = .refuse)
    /// A response to a write that shows something of the store, which is read after the write: the writer doesn't wait
    /// for it. When it can't be read, the other answer is given, since the write is done.
    indirect case readLater(ServiceWork.Read, otherwise: ServiceAnswer)
    case error(WireError)
    /// A push for a device that waits.
    case push(CourierPush)
    case nothing
}

/// What is done with a response that has more bytes of JSON than one may have.
enum OversizePolicy: Sendable {
    /// The client asks for less.
    case refuse
    /// A page ends earlier.
    case ask(ServiceWork.Read)
    /// One record is answered whatever its size is: what can be saved can be fetched.
    case send
    /// What was written is told without its fields: it can't be refused any more.
    case tellInBrief
}

/// What a thrown error comes to on the wire.
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
                    + "fewer records at a time, and delete first what goes along with others")
        default:
            // Only the operator may see the path of a file.
            return ServiceError.internalError(
                "the service could not read or write its data")
        }
    }
}
