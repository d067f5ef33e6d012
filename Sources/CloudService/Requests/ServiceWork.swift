import CloudStore
import CloudWire

/// A request that has been read and waits for the store.
struct PreparedRequest: Sendable {
    let work: ServiceWork
    let bytes: Int
    let wantsExtras: Bool
    /// The server's name for the request.
    var requestID: String?
    /// Who asks, for the log.
    var userRecordName: String?
    /// What the check of who asks adds to the answer.
    var additions = AnswerAdditions()
    /// Where the files of its records are; nil when the request led nowhere.
    var assets: AssetAddress?
}

/// What is left to do for a request. A closure may run again when the group that it was in has failed.
enum ServiceWork: Sendable {
    typealias Read = @Sendable (any CloudStoreReader) throws -> ServiceAnswer
    typealias Write = @Sendable (any CloudStoreWriter) throws -> ServiceAnswer

    case answer(ServiceAnswer)
    case read(Read)
    case write(Write)
}

/// An answer that isn't encoded yet, so that the writer doesn't wait for that.
enum ServiceAnswer: Sendable {
    case message(any JSONMessage, numbersAsStrings: Bool = false)
    case error(WireError)
    /// A push for a device that waits.
    case push(CourierPush)
    case nothing
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
        case CloudStoreError.diskFull, CloudStoreError.busy:
            return ServiceError.tryAgainLater(
                "the service can't write now; nothing was saved", retryAfterSeconds: retryAfterSeconds)
        default:
            // The path of a file is nobody's business but the operator's.
            return ServiceError.internalError(
                "the service could not read or write its data")
        }
    }
}
