import Crypto
import System

/// What a sign-in page is for.
public struct ControlSignInPage: Hashable, Sendable {
    /// The container's identifier.
    public let container: String
    /// `development` or `production`.
    public let environment: String
    /// The app that asks, with where it wants the token.
    public let app: ControlApp
    /// The origin of the page that asked, when it is one of the app's.
    public let origin: String?
}

extension ControlStore {
    /// Makes what the address of a sign-in page carries; nil when there is no such API token, or it is of another
    /// environment.
    ///
    /// - Parameters:
    ///   - apiToken: the app's.
    ///   - origin: of the page that asks.
    public func makeSignInTicket(
        apiToken: String, container: String, environment: String, origin: String?
    ) throws -> String? {
        guard let app = try app(apiToken: apiToken), app.container == container,
            app.environments.contains(environment)
        else { return nil }
        let isOrigin = origin.map { ControlOrigins.isOrigin($0) } ?? false
        let ticket = SignInTicket(
            container: container, environment: environment, app: Hex.text(try SHA256.hash(apiToken)),
            origin: isOrigin ? origin : nil,
            expiresMilliseconds: clock.nowMilliseconds() + SignInTicket.lifeMilliseconds)
        let code = try code(of: ticket.words, purpose: .signInTicket)
        return "\(Hex.text(Array(ticket.words.utf8))).\(Hex.text(code))"
    }

    /// What a sign-in page is for; nil when its address is not one of ours, or too old, or its app was revoked.
    public func signInPage(ticket text: String) throws -> ControlSignInPage? {
        guard let ticket = try ticket(text), let digest = Hex.bytes(ticket.app),
            let app = try app(digest: digest), app.container == ticket.container,
            app.environments.contains(ticket.environment)
        else { return nil }
        let mayAsk = ticket.origin.map { app.origins?.contains($0) ?? true } ?? true
        return ControlSignInPage(
            container: ticket.container, environment: ticket.environment, app: app,
            origin: mayAsk ? ticket.origin : nil)
    }

    /// Whether a text is an address of ours that is not too old. It reads no file, so that forged texts cost nothing
    /// more.
    public func isSignInTicket(_ text: String) throws -> Bool {
        try ticket(text) != nil
    }

    private func ticket(_ text: String) throws -> SignInTicket? {
        guard let parts = SignInTicket.split(text), let bytes = Hex.bytes(String(parts.words)),
            let sent = Hex.bytes(String(parts.code)),
            // One text for the same bytes: digits are read in either case.
            "\(Hex.text(bytes)).\(Hex.text(sent))" == text
        else { return nil }
        let words = String(decoding: bytes, as: UTF8.self)
        guard ConstantTime.equal(sent, try code(of: words, purpose: .signInTicket)),
            let ticket = SignInTicket(words: words), clock.nowMilliseconds() < ticket.expiresMilliseconds
        else { return nil }
        return ticket
    }

    /// The code of a sign-in form: it is for the browser that holds `nonce` as a cookie, and for this address.
    public func signInFormCode(ticket: String, nonce: String) throws -> String {
        Hex.text(try code(of: "\(nonce)\n\(ticket)", purpose: .signInForm))
    }
}
