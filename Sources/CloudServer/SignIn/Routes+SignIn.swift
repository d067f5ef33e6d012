import CloudStore
import CloudWire
import HTTPServer

extension Routes {
    /// Answers the sign-in page's form, and whoever signs out.
    func answerForm(_ request: HTTPRequest, _ reply: Reply, _ route: Route) {
        let head = request.head
        guard let signIns else { return reply.send(Refusal.noSuchPath(head.path)) }
        guard head.method == "POST" else { return reply.send(Refusal.wrongMethod("POST")) }
        if route == .signOut {
            signIns.signOut(webAuthToken: head.queryValue(WireHeader.webAuthTokenItem), reply)
        } else {
            signIns.take(sentForm(request), reply)
        }
    }

    func isSecure(_ head: HTTPRequestHead) -> Bool {
        serverURL(for: head)?.hasPrefix("https://") ?? false
    }

    private func sentForm(_ request: HTTPRequest) -> SentForm {
        let head = request.head
        let cookies = head.headers.filter { $0.name.lowercased() == "cookie" }.flatMap {
            $0.value.split(separator: ";").map { $0.drop { $0 == " " } }
        }
        let mark = "\(SignInDesk.cookieName)="
        let isOfAnotherSite = head.header("Sec-Fetch-Site").map { $0 != "same-origin" } ?? false
        // Whether it is http or https a proxy knows, and the host tells whose page it is.
        let own = serverURL(for: head).map(Self.host)
        let isOfAnotherOrigin = head.header(WireHeader.origin).map { Self.host($0) != own } ?? false
        return SentForm(
            body: request.body,
            nonce: cookies.first { $0.hasPrefix(mark) }.map { String($0.dropFirst(mark.count)) },
            isForeign: isOfAnotherSite || isOfAnotherOrigin, peer: peer(of: head))
    }

    private static func host(_ url: String) -> String {
        let origin = ControlOrigins.origin(ofCallback: url)
        return String(origin.drop { $0 != ":" }.dropFirst(3))
    }
}
