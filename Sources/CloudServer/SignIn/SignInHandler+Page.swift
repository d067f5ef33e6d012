import CloudWire
import Crypto
import HTTPServer
import System

/// A submitted form, with the browser's headers about it.
struct SentForm: Sendable {
    let body: [UInt8]
    /// The form's cookie. Only our own page can have set it.
    let nonce: String?
    /// True if the browser reports that another site's page sent it.
    let isForeign: Bool
    let peer: String
    /// The browser's `User-Agent`.
    let client: String?
}

extension SignInHandler {
    static let cookieName = "yap-sign-in"

    /// Responds with the page that AUTHENTICATION_REQUIRED leads to, asynchronously.
    func show(ticket: String, isSecure: Bool, peer: String, _ reply: Reply) {
        guard isTicket(ticket, reply) else { return }
        submit(of: peer, reply, failed: sendFailed) { [self] in
            guard let page = try checker.page(ticket: ticket) else { return sendStale(reply) }
            guard page.hasReceiver else { return sendNoReceiver(page, reply) }
            let nonce = Hex.text(try RandomBytes.make(count: 16))
            let form = SignInHTML.Form(
                page: page, ticket: ticket, code: try checker.formCode(ticket: ticket, nonce: nonce))
            let cookie =
                "\(Self.cookieName)=\(nonce); Path=\(Route.signInPath); Max-Age=900; HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
            send(form, status: 200, headers: [("Set-Cookie", cookie)], reply)
        }
    }

    /// Handles the page's form, asynchronously.
    func take(_ sent: SentForm, _ reply: Reply) {
        guard let fields = FormFields(sent.body), let ticket = fields.value("ticket") else {
            return sendStale(reply)
        }
        guard isTicket(ticket, reply) else { return }
        submit(of: sent.peer, reply, failed: sendFailed) { [self] in
            guard let page = try checker.page(ticket: ticket) else { return sendStale(reply) }
            guard page.hasReceiver else { return sendNoReceiver(page, reply) }
            // Signing a user in to another account is an attack too.
            guard !sent.isForeign, let nonce = sent.nonce, let code = fields.value("code"),
                ConstantTime.equal(
                    Array(code.utf8), Array(try checker.formCode(ticket: ticket, nonce: nonce).utf8))
            else { return sendForeign(reply) }
            guard fields.value("action") != "cancel" else {
                return send(
                    page, title: "Not signed in", "You can close this window.", error: "The user cancelled",
                    reply)
            }
            let form = SignInForm(
                page: page, account: fields.value("account") ?? "", password: fields.value("password") ?? "",
                staysSignedIn: fields.value("stay") == "yes")
            answer(
                checker.signIn(form, peer: sent.peer, client: sent.client), to: form,
                shown: SignInHTML.Form(
                    page: page, ticket: ticket, code: code, account: form.account,
                    staysSignedIn: form.staysSignedIn), reply)
        }
    }

    /// Ends the pushes of a session's device and then the session, asynchronously.
    ///
    /// - Parameter endPushes: ends the pushes of the user's devices and returns true on success. Called on the
    ///   handler's thread.
    func signOut(
        webAuthToken: String?, peer: String, _ reply: Reply,
        endPushes:
            @escaping @Sendable (SignInSession, _ completion: @escaping @Sendable (Bool) -> Void) -> Void
    ) {
        submit(of: peer, reply, failed: sendCannotSignIn) { [self] in
            guard let webAuthToken, let session = try checker.session(webAuthToken: webAuthToken) else {
                return reply.sendJSON(Array("{}".utf8))
            }
            // A device's token is valid without a session. If it can't be ended, the session stays, so that the client
            // can retry.
            endPushes(session) { [self] areEnded in
                guard areEnded else { return reply.send(Refusal.busy) }
                submit(of: peer, reply, failed: sendCannotSignIn) { [self] in
                    _ = try checker.signOut(webAuthToken: webAuthToken)
                    reply.sendJSON(Array("{}".utf8))
                }
            }
        }
    }

    // MARK: -

    /// Returns true if the ticket is valid, and responds with an error otherwise. Called before the queue, so that
    /// forged tickets take no place in it.
    private func isTicket(_ ticket: String, _ reply: Reply) -> Bool {
        do {
            guard try checker.isTicket(ticket) else {
                sendStale(reply)
                return false
            }
            return true
        } catch {
            fail("\(error)", reply)
            sendFailed(reply)
            return false
        }
    }

    private func answer(
        _ answer: SignInAnswer, to form: SignInForm, shown: SignInHTML.Form, _ reply: Reply
    ) {
        var shown = shown
        switch answer {
        case .signedIn(let webAuthToken, _, _, let news):
            tell(news)
            send(
                form.page, title: "Signed in",
                [news.lastText, "You can close this window."].compactMap(\.self).joined(separator: " "),
                token: webAuthToken, staysOpen: news.isUnusual, reply)
        case .refused:
            shown.message = "The account doesn't exist, or the password is wrong."
            send(shown, status: 403, reply)
        case .denied(let error):
            shown.message = error.reason
            send(shown, status: error.serverErrorCode.httpStatus, reply)
        case .tooManyTries(let seconds):
            shown.message = "Too many sign-ins failed. Wait \(Self.words(seconds: seconds)) and try again."
            send(shown, status: 429, headers: [("Retry-After", "\(seconds)")], reply)
        case .failed(let reason):
            fail(reason, reply)
            shown.message = "The server could not check the password now. Try again later."
            send(shown, status: 503, reply)
        }
    }

    private static func words(seconds: Int) -> String {
        seconds < 90 ? "\(seconds) second\(seconds == 1 ? "" : "s")" : "\((seconds + 59) / 60) minutes"
    }

    private func send(
        _ form: SignInHTML.Form, status: Int, headers: [(name: String, value: String)] = [], _ reply: Reply
    ) {
        // A browser that checks the target of a form also checks its redirects.
        let policy = SignInHTML.policy(
            runsScript: false, leadsTo: form.page.callback == nil ? nil : form.page.receiver)
        reply.sendPage(SignInHTML.form(form), status: status, policy: policy, headers: headers)
    }

    /// Passes the token to the app, or the reason that there is none.
    private func send(
        _ page: SignInPage, title: String, _ text: String, token: String? = nil, error: String = "",
        staysOpen: Bool = false, _ reply: Reply
    ) {
        let target =
            token.map { page.callback(WireHeader.webAuthTokenItem, $0) }
            ?? page.callback("errorMessage", error)
        if let target { return reply.sendRedirect(to: target) }
        let html = SignInHTML.result(
            title: title, text, key: token == nil ? "error" : "token", value: token ?? error,
            origins: page.origins, staysOpen: staysOpen)
        reply.sendPage(html, status: 200, policy: SignInHTML.policy(runsScript: true))
    }

    private func sendStale(_ reply: Reply) {
        notice(
            "Open the sign-in again",
            "This address has expired or is incomplete. Go back to the app and sign in from there.",
            reply)
    }

    private func sendNoReceiver(_ page: SignInPage, _ reply: Reply) {
        notice(
            "Sign-in isn't set up for this app",
            "The token of \(page.appName) names no page that may sign its users in, so any site could have opened this "
                + "one. The server's operator can make a token that names one: yap token create --origin "
                + "https://app.example.com, or --callback.",
            reply)
    }

    private func sendForeign(_ reply: Reply) {
        notice(
            "Not signed in",
            "The form didn't come from this server's page, or cookies are off. Go back to the app and sign in "
                + "from there.",
            reply)
    }

    private func sendFailed(_ reply: Reply) {
        notice(
            "Not signed in", "The server can't read or write its accounts now. Try again later.", status: 503,
            reply)
    }

    private func notice(_ title: String, _ text: String, status: Int = 400, _ reply: Reply) {
        reply.sendPage(
            SignInHTML.notice(title: title, text), status: status,
            policy: SignInHTML.policy(runsScript: false))
    }
}
