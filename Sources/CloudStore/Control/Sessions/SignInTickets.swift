import Crypto
import System

/// The purpose of a sign-in page.
package struct ControlSignInPage: Hashable, Sendable {
    /// Identifier of the container.
    package let container: String
    /// `development` or `production`.
    package let environment: String
    /// The app that requests the sign-in, and where it receives the token.
    package let app: ControlApp
    /// Origin of the page that requests the sign-in, or nil if it isn't one of the app's.
    package let origin: String?
}

/// Makes and checks the addresses of sign-in pages and the codes of their forms. They are signed, and not stored.
package struct SignInTickets: Sendable {
    let file: ControlFile
    let tokens: TokenTable

    /// Makes a ticket: the signed text in the address of a sign-in page.
    ///
    /// - Parameters:
    ///   - apiToken: The app's token.
    ///   - origin: Origin of the page that requests the sign-in, or nil if no page does.
    /// - Returns: Nil if the API token doesn't exist or is for another environment.
    /// - Throws: `CloudStoreError`, `CryptoError`.
    package func make(
        apiToken: String, container: String, environment: String, origin: String?
    ) throws -> String? {
        guard let app = try tokens.app(apiToken: apiToken), app.container == container,
            app.environments.contains(environment)
        else { return nil }
        let isOrigin = origin.map { ControlOrigins.isOrigin($0) } ?? false
        let ticket = SignInTicket(
            container: container, environment: environment, app: Hex.text(try SHA256.hash(apiToken)),
            origin: isOrigin ? origin : nil,
            expiresMilliseconds: file.clock.nowMilliseconds() + SignInTicket.lifeMilliseconds)
        let code = try file.secret.code(of: ticket.words, purpose: .signInTicket)
        return "\(Hex.text(Array(ticket.words.utf8))).\(Hex.text(code))"
    }

    /// Returns the page of a ticket, or nil if the ticket isn't valid, has expired, or its app was revoked.
    ///
    /// - Throws: `CloudStoreError`, `CryptoError`.
    package func page(ticket text: String) throws -> ControlSignInPage? {
        guard let ticket = try ticket(text), let digest = Hex.bytes(ticket.app),
            let app = try tokens.app(digest: digest), app.container == ticket.container,
            app.environments.contains(ticket.environment)
        else { return nil }
        let mayAsk = ticket.origin.map { app.origins?.contains($0) ?? true } ?? true
        return ControlSignInPage(
            container: ticket.container, environment: ticket.environment, app: app,
            origin: mayAsk ? ticket.origin : nil)
    }

    /// Returns true if a text is a valid ticket that hasn't expired. It doesn't read the file, so a forged text costs
    /// little.
    ///
    /// - Throws: `CryptoError`.
    package func isValid(_ text: String) throws -> Bool {
        try ticket(text) != nil
    }

    /// Returns the code of a sign-in form. It is valid for this ticket in the browser that has `nonce` as a cookie.
    ///
    /// - Throws: `CryptoError`.
    package func formCode(ticket: String, nonce: String) throws -> String {
        Hex.text(try file.secret.code(of: "\(nonce)\n\(ticket)", purpose: .signInForm))
    }

    private func ticket(_ text: String) throws -> SignInTicket? {
        guard let parts = SignInTicket.split(text), let bytes = Hex.bytes(String(parts.words)),
            let sent = Hex.bytes(String(parts.code)),
            // Hexadecimal digits are read in either case. Only one text is accepted for the same bytes.
            "\(Hex.text(bytes)).\(Hex.text(sent))" == text
        else { return nil }
        let words = String(decoding: bytes, as: UTF8.self)
        guard ConstantTime.equal(sent, try file.secret.code(of: words, purpose: .signInTicket)),
            let ticket = SignInTicket(words: words), file.clock.nowMilliseconds() < ticket.expiresMilliseconds
        else { return nil }
        return ticket
    }
}
