import CloudService
import CloudStore
import CloudWire

/// Errors that the server returns without a service, in the form of CloudKit's errors.
enum Refusal {
    private static let retryAfterSeconds: Double = 5

    static let stopping = WireError(
        .tryAgainLater, reason: "the server is stopping", retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6
    )

    static let busy = WireError(
        .tryAgainLater, reason: "the server is busy; try again later", retryAfterSeconds: retryAfterSeconds,
        ckErrorCode: 6)

    static let tooManyFiles = WireError(
        .tryAgainLater, reason: "too many file transfers, overall or from your network; try again later",
        retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)

    /// Error of an environment that can't be opened. Only the server's log names the file.
    static func cannotOpen(_ error: any Error) -> WireError {
        switch error {
        case CloudStoreError.diskFull, CloudStoreError.diskFailing, CloudStoreError.busy:
            WireError(
                .tryAgainLater, reason: "the service can't use its disk at the moment",
                retryAfterSeconds: retryAfterSeconds, ckErrorCode: 6)
        default:
            WireError(.internalError, reason: "the service could not open its data", ckErrorCode: 1)
        }
    }

    static let cannotSignIn = WireError(
        .tryAgainLater, reason: "the server can't read or write its accounts at the moment",
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
            .notFound,
            reason: "\(container.identifier) in \(container.environment) was removed from this server",
            ckErrorCode: 5)
    }

    static func noSuchPath(_ path: String) -> WireError {
        WireError(.notFound, reason: "no endpoint at \(path.prefix(256))", ckErrorCode: 12)
    }

    static func badRequest(_ reason: String) -> WireError {
        WireError(.badRequest, reason: "BadRequestException: \(reason)", ckErrorCode: 12)
    }

    static func wrongMethod(_ method: String) -> WireError {
        badRequest("this path requires \(method)")
    }

    static func bodyTooLarge(bytesMax: Int) -> WireError {
        WireError(
            .badRequest, reason: "LimitExceeded: the request has more than \(bytesMax) bytes", ckErrorCode: 27
        )
    }

    static func tooManyPolls(_ pollsMax: Int) -> WireError {
        WireError(
            .throttled, reason: "more than \(pollsMax) devices are waiting for pushes", retryAfterSeconds: 30,
            ckErrorCode: 7)
    }

    static let noSession = WireError(
        .authenticationFailed, reason: "no session with this token", ckErrorCode: 9)

    static let signInRefused = WireError(
        .authenticationFailed, reason: "unknown account or wrong password", ckErrorCode: 9)

    static func tooManyTries(retryAfterSeconds: Int) -> WireError {
        WireError(
            .throttled, reason: "too many failed sign-ins; try again later",
            retryAfterSeconds: Double(retryAfterSeconds),
            ckErrorCode: 7)
    }
}
