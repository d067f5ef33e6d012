import CloudWire
import HTTPServer

/// Takes the sign-ins from the loops to a thread of their own: a password's hash is slow on purpose.
final class SignInDesk: Sendable {
    let checker: any SignInChecker
    private let worker: Worker
    private let log: RequestLog?

    init(_ checker: any SignInChecker, waitingMax: Int, log: RequestLog?) {
        self.checker = checker
        self.log = log
        worker = Worker(jobsMax: waitingMax)
    }

    /// Answers a sign-in, later.
    func take(_ body: [UInt8], peer: String, _ reply: Reply) {
        let isTaken = worker.submit { [self] in
            do {
                answer(checker.signIn(try SignInRequest(json: body), peer: peer), reply)
            } catch let error as JSONError {
                reply.send(error.wireError)
            } catch {
                reply.send(Refusal.cannotOpen)
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }

    /// Runs what may block on the desk's thread; what it throws is the server's failure.
    func submit(_ reply: Reply, _ body: @escaping @Sendable () throws -> Void) {
        let isTaken = worker.submit { [self] in
            do {
                try body()
            } catch {
                fail("\(error)", reply)
                reply.send(Refusal.cannotOpen)
            }
        }
        if !isTaken { reply.send(Refusal.busy) }
    }

    /// Tells the operator why somebody was not signed in.
    func fail(_ reason: String, _ reply: Reply) {
        log?.add(event: "sign-in failed", [("id", reply.exchange.requestID), ("error", reason)])
    }

    /// Answers what waits.
    func stop() { worker.stop() }

    private func answer(_ answer: SignInAnswer, _ reply: Reply) {
        switch answer {
        case .signedIn(let webAuthToken, let userRecordName, let expiresAtMilliseconds):
            let response = SignInResponse(
                webAuthToken: webAuthToken, userRecordName: userRecordName,
                expiresAtMilliseconds: expiresAtMilliseconds)
            // A secret: no cache on the way may keep it.
            reply.send(response, headers: [("Cache-Control", "no-store")])
        case .refused:
            reply.send(Refusal.signInRefused)
        case .tooManyTries(let seconds):
            reply.send(Refusal.tooManyTries(retryAfterSeconds: seconds))
        case .failed(let reason):
            fail(reason, reply)
            reply.send(Refusal.cannotOpen)
        }
    }
}
