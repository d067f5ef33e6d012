import CloudStore
import CloudWire
import HTTPServer

/// Takes the sign-ins from the loops to a thread of their own: a password's hash is slow on purpose.
final class SignInHandler: Sendable {
    let checker: any SignInChecker
    private let queue: FairWorker
    private let log: ServerLog?
    /// Is told of each sign-in from where the account was not signed in to before.
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

    /// Answers a sign-in, later.
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

    /// Runs what may block on the handler's thread; what it throws is the server's failure, which `failed` answers.
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

    /// Tells the operator of a sign-in, if the account was not signed in to from there before.
    func tell(_ news: SignInNews) {
        guard !news.history.isKnownPlace else { return }
        log?.add(event: "sign-in from a new address", news.logMembers)
        newPlace(news)
    }

    /// Answers with the sessions of the account, later.
    func listSessions(webAuthToken: String?, peer: String, _ reply: Reply) {
        submit(of: peer, reply, failed: sendCannotSignIn) { [self] in
            guard let webAuthToken, let own = try checker.sessions(webAuthToken: webAuthToken) else {
                return reply.send(Refusal.noSession)
            }
            reply.send(own.response, headers: [("Cache-Control", "no-store")])
        }
    }

    /// Tells the operator why somebody was not signed in.
    func fail(_ reason: String, _ reply: Reply) {
        log?.add(event: "sign-in failed", [("id", reply.exchange.requestID), ("error", reason)])
    }

    func sendCannotSignIn(_ reply: Reply) { reply.send(Refusal.cannotSignIn) }

    /// Answers what waits.
    func stop() { queue.stop() }

    private func answer(_ answer: SignInAnswer, _ reply: Reply) {
        switch answer {
        case .signedIn(let webAuthToken, let userRecordName, let expiresAtMilliseconds, let news):
            tell(news)
            let response = SignInResponse(
                webAuthToken: webAuthToken, userRecordName: userRecordName,
                expiresAtMilliseconds: expiresAtMilliseconds)
            // A secret: no cache on the way may keep it.
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
