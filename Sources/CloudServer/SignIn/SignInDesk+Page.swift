import CloudWire
import Crypto
import HTTPServer

/// A form that came over HTTP, with what the browser says of it.
struct SentForm: Sendable {
    let body: [UInt8]
    /// The form's cookie, which only a page of ours can have set.
    let nonce: String?
    /// The browser says that a page of another site sent it.
    let isForeign: Bool
    let peer: String
}

extension SignInDesk {
    static let cookieName = "yap-sign-in"

    /// Shows the page to which AUTHENTICATION_REQUIRED leads, later.
    func show(ticket: String, isSecure: Bool, _ reply: Reply) {
        submit(reply) { [self] in
            guard let page = try checker.page(ticket: ticket) else { return sendStale(reply) }
            let nonce = Hex.text(try RandomBytes.make(count: 16))
            let form = SignInHTML.Form(
                page: page, ticket: ticket, code: try checker.formCode(ticket: ticket, nonce: nonce))
            let cookie =
                "\(Self.cookieName)=\(nonce); Path=\(Route.signInPath); Max-Age=900; HttpOnly; SameSite=Strict"
                + (isSecure ? "; Secure" : "")
            send(form, status: 200, headers: [("Set-Cookie", cookie)], reply)
        }
    }

    /// Answers the page's form, later.
    func take(_ sent: SentForm, _ reply: Reply) {
        submit(reply) { [self] in
            guard let fields = FormFields(sent.body), let ticket = fields.value("ticket"),
                let page = try checker.page(ticket: ticket)
            else { return sendStale(reply) }
            // Signing somebody in to another's account is an attack too.
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
                checker.signIn(form, peer: sent.peer), to: form,
                shown: SignInHTML.Form(
                    page: page, ticket: ticket, code: code, account: form.account,
                    staysSignedIn: form.staysSignedIn), reply)
        }
    }

    /// Ends a session, later.
    func signOut(webAuthToken: String?, _ reply: Reply) {
        submit(reply) { [self] in
            if let webAuthToken { _ = try checker.signOut(webAuthToken: webAuthToken) }
            reply.sendJSON(Array("{}".utf8))
        }
    }

    // MARK: -

    private func answer(
        _ answer: SignInAnswer, to form: SignInForm, shown: SignInHTML.Form, _ reply: Reply
    ) {
        var shown = shown
        switch answer {
        case .signedIn(let webAuthToken, _, _):
            send(form.page, title: "Signed in", "You can close this window.", token: webAuthToken, reply)
        case .refused:
            shown.message = "There is no such account, or it has another password."
            send(shown, status: 403, reply)
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
        // A browser that checks where a form leads looks at where it is led from there too.
        let policy = SignInHTML.policy(
            runsScript: false, leadsTo: form.page.callback == nil ? nil : form.page.receiver)
        reply.sendPage(SignInHTML.form(form), status: status, policy: policy, headers: headers)
    }

    /// Gives the app the token, or the reason that there is none.
    private func send(
        _ page: SignInPage, title: String, _ text: String, token: String? = nil, error: String = "",
        _ reply: Reply
    ) {
        let target =
            token.map { page.callback(WireHeader.webAuthTokenItem, $0) }
            ?? page.callback("errorMessage", error)
        if let target { return reply.sendRedirect(to: target) }
        let html = SignInHTML.result(
            title: title, text, key: token == nil ? "error" : "token", value: token ?? error,
            origins: page.origins)
        reply.sendPage(html, status: 200, policy: SignInHTML.policy(runsScript: true))
    }

    private func sendStale(_ reply: Reply) {
        notice(
            "Open the sign-in again",
            "This address has run out, or it isn't whole. Go back to the app and sign in from there.",
            reply)
    }

    private func sendForeign(_ reply: Reply) {
        notice(
            "Not signed in",
            "The form didn't come from this server's page, or cookies are off. Go back to the app and sign in "
                + "from there.",
            reply)
    }

    private func notice(_ title: String, _ text: String, _ reply: Reply) {
        reply.sendPage(
            SignInHTML.notice(title: title, text), status: 400, policy: SignInHTML.policy(runsScript: false))
    }
}
