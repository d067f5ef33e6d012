import CloudService
import CloudStore
import CloudWire
import HTTPServer

extension Routes {
    /// Handles the sign-in page's form, and requests to sign out.
    func answerForm(_ request: HTTPRequest, _ reply: Reply, _ route: Route) {
        let head = request.head
        guard let signIns else { return reply.send(Refusal.noSuchPath(head.path)) }
        if route == .sessions {
            guard head.method == "GET" else { return reply.send(Refusal.wrongMethod("GET")) }
            return signIns.listSessions(
                webAuthToken: head.queryValue(WireHeader.webAuthTokenItem), peer: peer(of: head), reply)
        }
        guard head.method == "POST" else { return reply.send(Refusal.wrongMethod("POST")) }
        if route == .signOut {
            signIns.signOut(
                webAuthToken: head.queryValue(WireHeader.webAuthTokenItem), peer: peer(of: head), reply,
                endPushes: { [table, peer = peer(of: head)] session, completion in
                    // Deletes the tokens of all of the user's devices if the device isn't named. One that is
                    // still signed in creates another token automatically.
                    table.forgetDevices(
                        of: session.userRecordName, named: head.queryValue(WireHeader.clientIDItem),
                        in: session.container, from: peer, completion)
                })
        } else {
            signIns.take(sentForm(request), reply)
        }
    }

    func isSecure(_ head: HTTPRequestHead) -> Bool {
        serverURL(for: head)?.hasPrefix("https://") ?? false
    }

    private func sentForm(_ request: HTTPRequest) -> SentForm {
        let head = request.head
        let isOfAnotherSite = head.header("Sec-Fetch-Site").map { $0 != "same-origin" } ?? false
        // Only a proxy knows the scheme, so the hosts are compared.
        let own = serverURL(for: head).map(Self.host)
        let isOfAnotherOrigin = head.header(WireHeader.origin).map { Self.host($0) != own } ?? false
        return SentForm(
            body: request.body,
            nonce: head.cookie(SignInHandler.cookieName),
            isForeign: isOfAnotherSite || isOfAnotherOrigin, peer: peer(of: head),
            client: head.header("User-Agent"))
    }

    private static func host(_ url: String) -> String {
        let origin = ControlOrigins.origin(ofCallback: url)
        return String(origin.drop { $0 != ":" }.dropFirst(3))
    }
}

extension EnvironmentTable {
    /// Deletes the push tokens of a user's devices, or of the one with this name.
    func forgetDevices(
        of user: String, named device: String?, in container: CloudService.Container, from peer: String = "",
        _ completion: @escaping @Sendable (Bool) -> Void
    ) {
        use(container, from: peer) { [self] result in
            switch result {
            case .failure(let error):
                // An environment without data has no pushes.
                completion(error.serverErrorCode == .notFound)
            case .success(let environment):
                environment.thread.forgetDevices(of: user, named: device) { [self] isDone in
                    release(environment)
                    completion(isDone)
                }
            }
        }
    }

    /// Queues an event that isn't a notification for an environment's webhooks.
    func tell(_ event: SignInEvent, in container: CloudService.Container, _ webhooks: WebhookSender) {
        use(container) { [self] result in
            guard case .success(let environment) = result else { return }
            environment.thread.tellWebhooks(event) { [self] isWritten in
                release(environment)
                if isWritten { webhooks.look(at: container) }
            }
        }
    }
}
