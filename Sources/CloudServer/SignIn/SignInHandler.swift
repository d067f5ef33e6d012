import CloudStore
import CloudWire
import HTTPServer
import System

/// Handles sign-ins, on a thread of its own because a password's hash is slow on purpose.
final class SignInHandler: ThreadOwner {
    let checker: any SignInChecker
    private let queue: FairWorker
    private let log: ServerLog?
    /// Called for each sign-in of an account from a new place.
    private let newPlace: @Sendable (SignInNews) -> Void

    init(
        _ checker: any SignInChecker, waitingMax: Int, log: ServerLog?,
        newPlace: @escaping @Sendable (SignInNews) -> Void = { _ in }
    ) {
        self.checker = checker
        self.newPlace = newPlace
        self.log = log
        queue = FairWorker(jobsMax: waitingMax)
    }

    /// Starts the thread. It lives until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) { try queue.start(start) }

    /// Handles a sign-in asynchronously.
    func take(_ body: [UInt8], peer: String, client: String?, _ reply: Reply) {
        submit(of: peer, reply, failed: sendCannotSignIn) { [self] in
            do {
                let request = try SignInRequest(json: body)
                answer(checker.signIn(request, peer: peer, client: client), reply)
            } catch let error as JSONError {
                reply.send(error.wireError)
            }
        }
    }

    /// Runs blocking work on the handler's thread. If it throws, `failed` responds with an error of the server.
    func submit(
        of peer: String, _ reply: Reply, failed: @escaping @Sendable (Reply) -> Void,
        _ body: @escaping @Sendable () throws -> Void
    ) {
        let isTaken = queue.submit(of: peer) { [self] in
            do {
                try body()
            } catch {
                fail("\(error)", reply)
                failed(reply)
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }

    /// Reports a sign-in to the operator, if it is the account's first from this place.
    func tell(_ news: SignInNews) {
        guard !news.history.isKnownPlace else { return }
        log?.add(event: "sign-in from a new address", news.logMembers)
        newPlace(news)
    }

    /// Responds with the sessions of the account, asynchronously.
    func listSessions(webAuthToken: String?, peer: String, _ reply: Reply) {
        submit(of: peer, reply, failed: sendCannotSignIn) { [self] in
            guard let webAuthToken, let own = try checker.sessions(webAuthToken: webAuthToken) else {
                return reply.send(Refusal.noSession)
            }
            reply.send(own.response, headers: [("Cache-Control", "no-store")])
        }
    }

    /// Logs the reason that a sign-in failed.
    func fail(_ reason: String, _ reply: Reply) {
        log?.add(event: "sign-in failed", [("id", reply.exchange.requestID), ("error", reason)])
    }

    func sendCannotSignIn(_ reply: Reply) { reply.send(Refusal.cannotSignIn) }

    /// Handles the queued sign-ins and stops.
    func stop() { queue.stop() }

    private func answer(_ answer: SignInAnswer, _ reply: Reply) {
        switch answer {
        case .signedIn(let webAuthToken, let userRecordName, let expiresAtMilliseconds, let news):
            tell(news)
            let response = SignInResponse(
                webAuthToken: webAuthToken, userRecordName: userRecordName,
                expiresAtMilliseconds: expiresAtMilliseconds)
            // The token is a secret, so no cache may keep it.
            reply.send(response, headers: [("Cache-Control", "no-store")])
        case .refused:
            reply.send(Refusal.signInRefused)
        case .denied(let error):
            reply.send(error)
        case .tooManyTries(let seconds):
            reply.send(Refusal.tooManyTries(retryAfterSeconds: seconds))
        case .failed(let reason):
            fail(reason, reply)
            sendCannotSignIn(reply)
        }
    }
}
