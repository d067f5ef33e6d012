internal import CloudWire
internal import System

/// One request from its first attempt to its completion.
///
/// It only decides what happens next. Its parts own the state: `RequestAttempts` the attempt in flight, `TokenTurn` the
/// place in the queue of the token gate, `RequestAccount` the user, `RequestThrottle` the waiting times that the server
/// named.
final class RequestRun: Sendable {
    typealias Completion = @Sendable (Result<WireResponse, CKError>) -> Void
    /// Sends the request once, with this credential and these timeouts.
    typealias Sender = @Sendable (CloudCredential, RequestTimeouts, @escaping Completion) -> TransportCancel

    private let send: Sender
    private let connection: CloudConnection
    private let rules: RequestRules
    private let isFile: Bool
    private let account: RequestAccount
    private let throttle: RequestThrottle
    private let turn: TokenTurn
    private let attempts: RequestAttempts
    /// Nil once the request has completed: the completion often holds the closure that cancels the request.
    private let completion: Lock<Completion?>

    /// - Parameter kind: requests of one kind are throttled together; nil for a file, which is never throttled.
    init(
        connection: CloudConnection, rules: RequestRules, kind: String?, completion: @escaping Completion,
        attempts: RequestAttempts = RequestAttempts(), send: @escaping Sender
    ) {
        self.attempts = attempts
        self.send = send
        self.connection = connection
        self.rules = rules
        isFile = kind == nil
        account = RequestAccount(connection.account, userRecordName: rules.userRecordName)
        throttle = RequestThrottle(kind: kind, connection: connection)
        turn = TokenTurn(connection.tokenGate)
        self.completion = Lock(completion)
    }

    /// Sends the request, after its turn at the token gate if the token is good for one request only.
    func attempt() {
        guard connection.serverKind == .apple, !isFile, account.hasSingleUseToken else {
            return attemptNow(bringsToken: false)
        }
        if turn.wait({ self.attemptNow(bringsToken: true) }) { endAtDeadline() }
    }

    func cancel() {
        end(.failure(.cancelled))
    }

    /// The longest wait in milliseconds for which a timer is set. The system keeps a timer in memory until it
    /// fires.
    private static let turnMillisecondsMax: Int64 = 86_400_000

    /// Ends the request at its deadline, even if it is still queued.
    private func endAtDeadline() {
        guard let deadline = rules.deadlineMilliseconds else { return }
        let left = max(0, deadline - connection.timers.elapsedMilliseconds())
        guard left <= Self.turnMillisecondsMax else { return }
        turn.keepTimer(connection.timers.after(milliseconds: left) { self.end(.failure(.deadlineIsOver)) })
    }

    /// - Parameter bringsToken: true if the response brings the user's next token, so that it must be awaited.
    private func attemptNow(bringsToken: Bool) {
        guard let timeouts = rules.timeouts(nowMilliseconds: connection.timers.elapsedMilliseconds()) else {
            return fail(.deadlineIsOver)
        }
        let credential: CloudCredential
        do throws(CKError) {
            credential = try account.credential()
            try throttle.check(credential)
        } catch {
            return fail(error)
        }
        // The request has completed in the meantime, possibly while it was queued.
        guard let number = attempts.begin(bringsToken: bringsToken) else { return turn.leave() }
        if !connection.transport.enforcesTimeouts {
            let milliseconds = Int64(timeouts.shortestSeconds * 1000)
            let cancelTimer = connection.timers.after(milliseconds: milliseconds) {
                self.receive(.failure(.requestTimedOut(milliseconds)), number, credential)
            }
            attempts.keepTimer(cancelTimer, of: number)
        }
        let cancelTransfer = send(credential, timeouts) { self.receive($0, number, credential) }
        attempts.keepTransfer(cancelTransfer, of: number)
    }

    /// Ends the request before it was sent. If `end` runs on another thread meanwhile, it leaves the turn to this one.
    private func fail(_ error: CKError) {
        end(.failure(error))
        turn.leave()
    }

    private func receive(
        _ result: Result<WireResponse, CKError>, _ number: Int, _ credential: CloudCredential
    ) {
        guard let cancelTransfer = attempts.finish(number) else { return }
        switch result {
        case .success(let response):
            account.takeToken(from: response, after: credential)
            turn.leave()
            throttle.note(response, credential)
            guard [401, 421].contains(response.status), account.hasNewerSignIn(than: credential) else {
                return end(result)
            }
            attempt()
        case .failure(let error):
            cancelTransfer()
            turn.leave()
            retryOrEnd(after: error, number)
        }
    }

    private func retryOrEnd(after error: CKError, _ number: Int) {
        // A refused connection is reported at once, because waiting doesn't help.
        guard rules.repeatsAfterNetworkErrors, error.isOfTheNetwork, error.connectionRefusal == nil else {
            return end(.failure(error))
        }
        let pause = RequestRules.pauseMilliseconds(
            afterAttempt: number, unitInterval: connection.random.nextUnitInterval())
        if let deadline = rules.deadlineMilliseconds,
            connection.timers.elapsedMilliseconds() + pause >= deadline
        {
            return end(.failure(error))
        }
        attempts.keepPause(connection.timers.after(milliseconds: pause) { self.attempt() })
    }

    private func end(_ result: Result<WireResponse, CKError>) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        guard let completion else { return }
        // An attempt with the next token continues. Its response, or its timeout, ends the turn.
        let isInFlight = attempts.close()
        turn.close(keepsTurn: isInFlight)
        completion(result)
    }
}

extension CKError {
    /// True for a network error: the same request may succeed later.
    var isOfTheNetwork: Bool {
        [.networkUnavailable, .networkFailure, .serverResponseLost].contains(code)
    }

    /// True if the next requests of the same operation would fail in the same way, each after its own timeout.
    var isOfTheWholeOperation: Bool {
        isOfTheNetwork
            || [.operationCancelled, .notAuthenticated, .requestRateLimited, .serviceUnavailable].contains(
                code)
    }

    fileprivate static let deadlineIsOver = CKError(
        .networkFailure, "The operation's time is over (timeoutIntervalForResource of its configuration).")

    fileprivate static func requestTimedOut(_ milliseconds: Int64) -> CKError {
        CKError(.networkFailure, "The server didn't respond within \(Double(milliseconds) / 1000) seconds.")
    }
}
