import CloudService
import CloudStore
import CloudWire

/// What the server answers by itself, in the form of CloudKit's errors.
enum Refusal {
    private static let retryAfterSeconds: Double = 5

    static let stopping = WireError(
        .tryAgainLater, reason: "the server is stopping", retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6
    )

    static let busy = WireError(
        .tryAgainLater, reason: "the server has too much to do", retryAfterSeconds: retryAfterSeconds,
        ckErrorCode: 6)

    static let tooManyFiles = WireError(
        .tryAgainLater, reason: "too many files are on their way, of all or to and from your network",
        retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)

    /// Why an environment isn't served. Which file it was is the operator's business; the log of the server has it.
    static func cannotOpen(_ error: any Error) -> WireError {
        switch error {
        case CloudStoreError.diskFull, CloudStoreError.diskFailing, CloudStoreError.busy:
            WireError(
                .tryAgainLater, reason: "the service can't use its disk now",
                retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)
        default:
            WireError(.internalError, reason: "the service could not open its data", ckErrorCode: 1)
        }
    }

    static let cannotSignIn = WireError(
        .tryAgainLater, reason: "the server can't read or write its accounts now",
        retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)

    static func noSuchContainer(_ container: CloudService.Container) -> WireError {
        WireError(
            .notFound,
            reason:
                "no container \(container.identifier.prefix(256)) in \(container.environment.prefix(256)) here",
            ckErrorCode: 5)
    }

    static func removed(_ container: CloudService.Container) -> WireError {
        WireError(
            .notFound, reason: "\(container.identifier) in \(container.environment) was removed here",
            ckErrorCode: 5)
    }

    static func noSuchPath(_ path: String) -> WireError {
        WireError(.notFound, reason: "no endpoint at \(path.prefix(256))", ckErrorCode: 12)
    }

    static func badRequest(_ reason: String) -> WireError {
        WireError(.badRequest, reason: "BadRequestException: \(reason)", ckErrorCode: 12)
    }

    static func wrongMethod(_ method: String) -> WireError {
        badRequest("this path is asked for by \(method)")
    }

    static func bodyTooLarge(bytesMax: Int) -> WireError {
        WireError(
            .badRequest, reason: "LimitExceeded: the request has more than \(bytesMax) bytes", ckErrorCode: 27
        )
    }

    static func tooManyPolls(_ pollsMax: Int) -> WireError {
        WireError(
            .throttled, reason: "more than \(pollsMax) devices wait for pushes", retryAfterSeconds: 30,
            ckErrorCode: 7)
    }

    static let noSession = WireError(
        .authenticationFailed, reason: "no session with this token", ckErrorCode: 9)

    static let signInRefused = WireError(
        .authenticationFailed, reason: "no such account, or another password", ckErrorCode: 9)

    static func tooManyTries(retryAfterSeconds: Int) -> WireError {
        WireError(
            .throttled, reason: "too many sign-ins failed; wait",
            retryAfterSeconds: Double(retryAfterSeconds),
            ckErrorCode: 7)
    }
}
