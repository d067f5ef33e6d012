package import CloudWire
internal import System

extension CloudConnection {
    /// Sends `request` with what tells who asks, and calls `completion` once, on any thread; it may be called
    /// before this returns.
    /// - Returns: what cancels it; `completion` then gets `operationCancelled`, unless it was called already.
    package func send(
        _ request: WireRequest, rules: RequestRules = RequestRules(),
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let connection = self
        let run = RequestRun(connection: self, rules: rules, kind: request.path, completion: completion) {
            let signed: WireRequest
            do throws(CKError) {
                signed = try request.signed($0, connection)
            } catch {
                $2(.failure(error))
                return {}
            }
            return connection.transport.send(signed, limits: $1, completion: $2)
        }
        run.attempt()
        return { run.cancel() }
    }

    /// Carries a file, and calls `completion` as `send` does.
    /// - Parameter progress: called on any thread with the part of the file that is there, which grows, and before
    ///   `completion`.
    func carry(
        _ transfer: FileTransfer, rules: RequestRules, progress: @escaping @Sendable (Double) -> Void,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void
    ) -> TransportCancel {
        let carrier = FileTransferRun(transfer, over: self, meter: ProgressMeter(progress))
        let run = RequestRun(connection: self, rules: rules, kind: nil, completion: completion) {
            carrier.attempt(limits: $1, completion: $2)
        }
        run.attempt()
        return { run.cancel() }
    }
}

/// One request from its first attempt to its end: each attempt carries the credential of its time, a newer sign-in is
/// tried after a refusal, and network errors are retried where the rules say so.
private final class RequestRun: Sendable {
    private struct State {
        /// Released at the end: the completion often holds what cancels the request.
        var completion: (@Sendable (Result<WireResponse, CKError>) -> Void)?
        var attemptNumber = 0
        /// Whose request it is, once that is known.
        var userRecordName: String?
        /// The attempt whose answer is waited for; an answer to another one comes too late.
        var awaited: Int?
        var hasTriedAnotherSignIn = false
        var cancelTransfer: TransportCancel?
        var cancelTimer: TimerCancel?
        /// Whether it is this request's turn among those whose token is good for one only.
        var hasTurn = false
        var leaveLine: (@Sendable () -> Bool)?
        var cancelLineTimer: TimerCancel?
        var isEnded: Bool { completion == nil }
        /// Whether what is under way has used up the user's token: only its answer brings the next one.
        var bringsToken: Bool { hasTurn && awaited != nil }
    }

    /// Sends it once: as whom, within how many seconds, and what to call then.
    typealias Sender =
        @Sendable (
            CloudCredential, RequestTimeouts, @escaping @Sendable (Result<WireResponse, CKError>) -> Void
        ) -> TransportCancel

    private let send: Sender
    private let connection: CloudConnection
    private let rules: RequestRules
    /// What requests that the server may ask to wait with together have in common; nil for a file.
    private let kind: String?
    private let state: Lock<State>

    init(
        connection: CloudConnection, rules: RequestRules, kind: String?,
        completion: @escaping @Sendable (Result<WireResponse, CKError>) -> Void, send: @escaping Sender
    ) {
        self.send = send
        self.connection = connection
        self.rules = rules
        self.kind = kind
        state = Lock(State(completion: completion, userRecordName: rules.userRecordName))
    }

    func attempt() {
        guard takesTurns else { return attemptNow() }
        let leaveLine = connection.tokenGate.enter {
            let isEnded = self.state.withLock { state in
                state.hasTurn = !state.isEnded
                return state.isEnded
            }
            isEnded ? self.connection.tokenGate.leave() : self.attemptNow()
        }
        // What an earlier attempt left in the state is released after the lock, here and below.
        let (isWaiting, _) = state.withLock { state in
            defer { state.leaveLine = leaveLine }
            return (!state.isEnded && !state.hasTurn && state.awaited == nil, state.leaveLine)
        }
        guard isWaiting else {
            if state.withLock({ $0.isEnded }) { _ = leaveLine() }
            return
        }
        endWhenTimeIsOver()
    }

    /// Milliseconds for which a turn is waited for at most, as far as anybody looks.
    private static let lineMillisecondsMax: Int64 = 86_400_000

    /// Whether the request goes out with a token that is good for one only.
    private var takesTurns: Bool {
        guard connection.serverKind == .apple, kind != nil,
            let credential = try? connection.account.credential()
        else { return false }
        return credential.webAuthToken != nil && credential.serverKey == nil
    }

    /// The wait for a turn counts for the whole operation's time.
    private func endWhenTimeIsOver() {
        guard let deadline = rules.deadlineMilliseconds else { return }
        let left = max(0, deadline - connection.timers.elapsedMilliseconds())
        // A timer stays in the system's memory until its time: none for what no line lasts.
        guard left <= Self.lineMillisecondsMax else { return }
        let cancelTimer = connection.timers.after(milliseconds: left) { self.end(.failure(.deadlineIsOver)) }
        let (isEnded, _) = state.withLock { state in
            defer { state.cancelLineTimer = cancelTimer }
            return (state.isEnded, state.cancelLineTimer)
        }
        if isEnded { cancelTimer() }
    }

    private func attemptNow() {
        guard let limits = limits() else { return end(.failure(.deadlineIsOver)) }
        let credential: CloudCredential
        do throws(CKError) {
            credential = try connection.account.credential()
        } catch {
            return end(.failure(error))
        }
        guard isOfTheSameUser(credential) else { return end(.failure(.anotherUser)) }
        if let seconds = secondsHeldBack(credential) { return end(.failure(.heldBack(seconds: seconds))) }
        let number: Int? = state.withLock { state in
            guard !state.isEnded else { return nil }
            state.attemptNumber += 1
            state.awaited = state.attemptNumber
            return state.attemptNumber
        }
        guard let number else { return }
        if !connection.transport.endsInTime {
            let milliseconds = Int64(limits.timeoutSeconds * 1000)
            let cancelTimer = connection.timers.after(milliseconds: milliseconds) {
                self.receive(.failure(.requestTimedOut(milliseconds)), number, credential)
            }
            _ = state.withLock { state in
                defer { state.cancelTimer = cancelTimer }
                return state.cancelTimer
            }
        }
        let cancelTransfer = send(credential, limits) {
            self.receive($0, number, credential)
        }
        let (isAwaited, _) = state.withLock { state in
            guard state.awaited == number else { return (false, nil as TransportCancel?) }
            defer { state.cancelTransfer = cancelTransfer }
            return (true, state.cancelTransfer)
        }
        // Answered already, or given up meanwhile.
        if !isAwaited { cancelTransfer() }
    }

    /// Seconds for which the server asked to wait with such requests of this user.
    private func secondsHeldBack(_ credential: CloudCredential) -> Double? {
        kind.flatMap {
            connection.throttled?.secondsLeft(
                $0 + "#" + (credential.userRecordName ?? ""),
                nowMilliseconds: connection.timers.elapsedMilliseconds())
        }
    }

    /// Keeps what an answer says about when to come back.
    private func holdBack(_ response: WireResponse, _ credential: CloudCredential) {
        guard let kind, !(200..<300).contains(response.status) else { return }
        let error = ResponseDecoder.refusal(response)
        guard error.asksToWait, let seconds = error.retryAfterSeconds else { return }
        connection.throttled?.hold(
            kind + "#" + (credential.userRecordName ?? ""), seconds: seconds,
            nowMilliseconds: connection.timers.elapsedMilliseconds())
    }

    private func leaveTurn() {
        let hadTurn = state.withLock { state in
            defer { state.hasTurn = false }
            return state.hasTurn
        }
        if hadTurn { connection.tokenGate.leave() }
    }

    func cancel() {
        end(.failure(.cancelled))
    }

    /// Whether the request may go out with `credential`: what one user began is never done as another.
    private func isOfTheSameUser(_ credential: CloudCredential) -> Bool {
        guard let user = credential.userRecordName else { return true }
        return state.withLock { state in
            let owner = state.userRecordName ?? user
            state.userRecordName = owner
            return owner == user
        }
    }

    /// How long the next attempt may take; nil when the operation's time is over.
    private func limits() -> RequestTimeouts? {
        let silence = max(0.001, min(rules.timeoutSeconds, 1e9))
        guard let deadline = rules.deadlineMilliseconds else {
            return RequestTimeouts(silenceSeconds: silence, wholeSeconds: 0)
        }
        let left = deadline - connection.timers.elapsedMilliseconds()
        return left > 0 ? RequestTimeouts(silenceSeconds: silence, wholeSeconds: Double(left) / 1000) : nil
    }

    private func receive(
        _ result: Result<WireResponse, CKError>, _ number: Int, _ credential: CloudCredential
    ) {
        let taken: (cancelTransfer: TransportCancel?, cancelTimer: TimerCancel?)? = state.withLock { state in
            guard state.awaited == number else { return nil }
            defer {
                state.awaited = nil
                state.cancelTransfer = nil
                state.cancelTimer = nil
            }
            return (state.cancelTransfer, state.cancelTimer)
        }
        guard let taken else { return }
        taken.cancelTimer?()
        switch result {
        case .success(let response):
            if let token = credential.webAuthToken, let newToken = response.header(WireHeader.newWebAuthToken)
            {
                connection.account.replace(token, with: newToken)
            }
            leaveTurn()
            holdBack(response, credential)
            guard [401, 421].contains(response.status), hasAnotherSignIn(than: credential) else {
                return end(result)
            }
            attempt()
        case .failure(let error):
            taken.cancelTransfer?()
            leaveTurn()
            repeatOrEnd(after: error, number)
        }
    }

    /// Whether somebody signed in since `credential` was read, in another process too. One such is tried.
    private func hasAnotherSignIn(than credential: CloudCredential) -> Bool {
        let isFirst = state.withLock { state in
            defer { state.hasTriedAnotherSignIn = true }
            return !state.hasTriedAnotherSignIn
        }
        guard isFirst, let now = try? connection.account.credential() else { return false }
        return now.webAuthToken != nil && now != credential
    }

    private func repeatOrEnd(after error: CKError, _ number: Int) {
        // What waiting doesn't mend is told at once.
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
        let cancelTimer = connection.timers.after(milliseconds: pause) { self.attempt() }
        let (isEnded, _) = state.withLock { state in
            defer { state.cancelTimer = cancelTimer }
            return (state.isEnded, state.cancelTimer)
        }
        if isEnded { cancelTimer() }
    }

    private func end(_ result: Result<WireResponse, CKError>) {
        let taken: State? = state.withLock { state in
            guard !state.isEnded else { return nil }
            let taken = state
            state.completion = nil
            state.leaveLine = nil
            state.cancelLineTimer = nil
            guard !taken.bringsToken else { return taken }
            state.awaited = nil
            state.cancelTransfer = nil
            state.cancelTimer = nil
            return taken
        }
        guard let taken else { return }
        taken.cancelLineTimer?()
        _ = taken.leaveLine?()
        if !taken.bringsToken {
            // Else the answer, or the end of its time, ends the turn.
            taken.cancelTransfer?()
            taken.cancelTimer?()
            leaveTurn()
        }
        taken.completion?(result)
    }
}

extension WireRequest {
    /// The request with what tells who asks: the items of tokens, or the signature of a server's key, beside which
    /// Apple's servers take no token.
    /// - Throws: `CKError.internalError` when it can't be signed.
    fileprivate func signed(
        _ credential: CloudCredential, _ connection: CloudConnection
    ) throws(CKError) -> WireRequest {
        var signed = self
        if let key = credential.serverKey {
            signed.headers += try key.headers(
                target: connection.transport.basePath + target, body: body, clock: connection.clock)
            return signed
        }
        for (name, value) in [
            (WireHeader.apiTokenItem, credential.apiToken),
            (WireHeader.webAuthTokenItem, credential.webAuthToken),
            (WireHeader.clientIDItem, credential.deviceID),
        ] {
            if let value { signed.query.append((name, value)) }
        }
        return signed
    }
}

extension CKError {
    /// Whether the network did it, so that the same request may well succeed later.
    var isOfTheNetwork: Bool {
        [.networkUnavailable, .networkFailure, .serverResponseLost].contains(code)
    }

    /// Whether the next requests of the same operation would fail in the same way, each after its own time.
    var isOfTheWholeOperation: Bool {
        isOfTheNetwork
            || [.operationCancelled, .notAuthenticated, .requestRateLimited, .serviceUnavailable].contains(
                code)
    }

    fileprivate static let anotherUser = CKError(
        .notAuthenticated,
        "Another user has signed in since the operation began: it was not sent as that user.")

    fileprivate static let deadlineIsOver = CKError(
        .networkFailure, "The operation's time is over (timeoutIntervalForResource of its configuration).")

    fileprivate static func requestTimedOut(_ milliseconds: Int64) -> CKError {
        CKError(.networkFailure, "No answer came within \(Double(milliseconds) / 1000) seconds.")
    }
}
