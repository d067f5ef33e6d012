import CloudStore
import CloudWire

/// A request that has been read and waits for the store.
struct PreparedRequest {
    let work: ServiceWork
    let bytes: Int
    let wantsExtras: Bool
}

/// What is left to do for a request. A closure may run again when the group that it was in has failed.
enum ServiceWork {
    case answer(ServiceAnswer)
    case read((any CloudStoreReader) throws -> ServiceAnswer)
    case write((any CloudStoreWriter) throws -> ServiceAnswer)
}

/// An answer that isn't encoded yet, so that the writer doesn't wait for that.
enum ServiceAnswer {
    case message(any JSONMessage, numbersAsStrings: Bool = false)
    case error(WireError)
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
