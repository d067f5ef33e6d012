import Crypto
import SQLiteTestSupport
import System
import Testing

@testable import CloudStore

/// Sessions whose token each answer replaces.
@Suite struct SessionTests {
    private static let life: Int64 = 1_800_000
    private let folder: TemporaryFolder
    private let clock = ManualTimeSource()
    private let control: ControlStore
    private let ada: ControlAccount

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.path + "/control.sqlite")
        control = try ControlStore(path: folder.path + "/control.sqlite", clock: clock)
        try control.containers.add("iCloud.todo")
        ada = try control.accounts.add(name: "ada", passwordHash: "x")
    }

    private func signIn(lifeMilliseconds: Int64? = life) throws -> String {
        try control.sessions.make(
            of: ada, container: "iCloud.todo", environment: "development", lifeMilliseconds: lifeMilliseconds
        ).token
    }

    /// The token in the answer to a request with this one; nil when it is refused.
    private func ask(_ token: String, _ control: ControlStore? = nil) throws -> String? {
        guard case .user(_, let replacement) = try (control ?? self.control).sessions.signIn(token: token)
        else {
            return nil
        }
        return replacement
    }

    @Test func aTokenIsGoodForOneRoundTripAndAGrace() throws {
        let first = try signIn()
        let second = try #require(try ask(first))
        #expect(second != first)
        // Until the replacement is used, the answer may have been lost.
        clock.advance(bySeconds: 600)
        #expect(try ask(first) == second)
        let third = try #require(try ask(second))
        // Requests under way in parallel: all of them get on, and learn of the newest.
        clock.advance(bySeconds: 59)
        #expect(try ask(first) == third && ask(second) == third)
        clock.advance(bySeconds: 2)
        #expect(try ask(second) == third)
    }

    @Test func aReplacedTokenThatComesAfterTheGraceEndsTheSession() throws {
        let first = try signIn()
        let second = try #require(try ask(first))
        let third = try #require(try ask(second))
        clock.advance(bySeconds: 61)
        #expect(try control.sessions.signIn(token: first) == .ended)
        #expect(try control.sessions.signIn(token: third) == .ended)
        #expect(try control.sessions.signIn(token: second) == .ended)
        #expect(try control.sessions.list().isEmpty)
    }

    @Test func ofAnAccountsPlacesTheLastOnesAreKeptAndAllGoWithTheAccount() throws {
        func signIn(_ number: Int) throws -> ControlSignInHistory {
            clock.advance(bySeconds: 1)
            return try control.sessions.make(
                of: ada, container: "iCloud.todo", environment: "development",
                from: ControlSignInPlace(network: "n\(number)", address: "a\(number)", client: nil)
            ).history
        }
        for number in 0...SignInPlaceTable.placesMaxOfAccount { #expect(try !signIn(number).isKnownPlace) }
        #expect(try !control.signInPlaces.hasSignedIn(account: "ada", from: "n0"))
        #expect(try control.signInPlaces.hasSignedIn(account: "ADA", from: "n1"))
        let known = try signIn(1)
        #expect(known.isKnownPlace && known.last?.address == "a\(SignInPlaceTable.placesMaxOfAccount)")
        #expect(try !signIn(0).isKnownPlace)
        #expect(try control.sessions.list().last?.address == "a0")
        let hostile = ControlSignInPlace(
            network: "n", address: "a", client: "b\u{1B}[2J" + String(repeating: "é", count: 9))
        #expect(hostile.client == "b[2J", "fit for a terminal")
        try control.accounts.remove(named: "ada")
        let again = try control.accounts.add(name: "ada", passwordHash: "x")
        #expect(try !control.signInPlaces.hasSignedIn(account: "ada", from: "n0"))
        #expect(again.id != ada.id)
    }

    @Test func constantRequestsDoNotKeepAnOldTokenAlive() throws {
        let first = try signIn()
        var tokens = [first]
        for _ in 0..<200 {
            let last = tokens[tokens.count - 1]
            tokens.append(try #require(try ask(last)))
            clock.advance(bySeconds: 1)
        }
        // The last token that was used is the one before the last.
        #expect(try ask(tokens[tokens.count - 40]) != nil)
        #expect(try control.sessions.signIn(token: tokens[tokens.count - 72]) == .ended)
    }

    @Test func aTokenLivesForItsTimeAfterItsLastUse() throws {
        var token = try signIn()
        for _ in 0..<10 {
            clock.advance(bySeconds: 1_799)
            token = try #require(try ask(token))
        }
        clock.advance(bySeconds: 1_800)
        #expect(try control.sessions.signIn(token: token) == .ended)
        // A session has an end however often it is used.
        token = try signIn(lifeMilliseconds: 14 * 86_400_000)
        for _ in 0..<52 {
            clock.advance(bySeconds: 7 * 86_400)
            token = try #require(try ask(token))
        }
        clock.advance(bySeconds: 7 * 86_400)
        #expect(try control.sessions.signIn(token: token) == .ended)
    }

    @Test func onlyThisServersTokensCount() throws {
        let token = try #require(SessionToken(try signIn()))
        let code = try #require(token.code)
        let forged = [
            SessionToken(secret: token.secret), SessionToken(secret: token.secret, step: 1, code: code),
            SessionToken(secret: token.secret, step: 0, code: String(code.reversed())),
            SessionToken(secret: String(repeating: "0", count: 64), step: 0, code: code),
        ]
        for forged in forged { #expect(try control.sessions.signIn(token: forged.text) == .unknown) }
        for text in [
            "", "x", token.text + " ", token.text.uppercased(), "\(token.secret)-00-\(code)",
            token.secret + "-0-",
        ] {
            #expect(try control.sessions.signIn(token: text) == .unknown)
        }
        // One that stays has no code, and takes none.
        let plain = try signIn(lifeMilliseconds: nil)
        #expect(try control.sessions.find(token: plain) != nil)
        #expect(
            try control.sessions.signIn(token: SessionToken(secret: plain, step: 0, code: code).text)
                == .unknown)
        #expect(try ask(token.text) != nil)
    }

    @Test func aRestartForgetsLessThanTheGrace() throws {
        var tokens = [try signIn()]
        for _ in 0..<20 {
            clock.advance(bySeconds: 31)
            let last = tokens[tokens.count - 1]
            tokens.append(try #require(try ask(last)))
        }
        let restarted = try ControlStore(path: control.path, clock: clock)
        #expect(try ask(tokens[19], restarted) == tokens[20])
        #expect(try restarted.sessions.signIn(token: tokens[15]) == .ended)
    }

    @Test func aSessionIsEndedByItsTokenByItsNameAndByItsAccount() throws {
        let (one, two, three) = (try signIn(), try signIn(lifeMilliseconds: nil), try signIn())
        let next = try #require(try ask(one))
        #expect(try control.sessions.end(token: next))
        #expect(try control.sessions.signIn(token: one) == .ended)
        #expect(try !control.sessions.end(token: one))
        let left = try control.sessions.list(account: "ADA")
        #expect(left.count == 2 && left.allSatisfy { $0.account == "ada" })
        let name = try #require(try control.sessions.find(token: two)?.id)
        #expect(try control.sessions.end(id: name))
        #expect(try control.sessions.find(token: two) == nil)
        #expect(try !control.sessions.end(id: name))
        #expect(try control.sessions.endAll(ofAccount: "ada") == 1)
        #expect(try control.sessions.signIn(token: three) == .ended)
        #expect(throws: ControlError.noSuchAccount(name: "bob")) {
            try control.sessions.endAll(ofAccount: "bob")
        }
    }

    @Test func aTokenOfAnExpiredOrEndedSessionRequiresANewSignIn() throws {
        let token = try signIn()
        try control.accounts.setPasswordHash("y", ofAccount: "ada")
        #expect(try control.sessions.signIn(token: token) == .ended)
    }

    @Test func aTicketIsForItsAppItsContainerAndFifteenMinutes() throws {
        let bound = try control.tokens.make(
            container: "iCloud.todo", name: "page", origins: ["https://a.example"])
        let ticket = try #require(
            try control.signInTickets.make(
                apiToken: bound, container: "iCloud.todo", environment: "production",
                origin: "https://a.example"))
        let page = try #require(try control.signInTickets.page(ticket: ticket))
        #expect(page.container == "iCloud.todo" && page.environment == "production")
        #expect(page.origin == "https://a.example" && page.app.name == "page")
        #expect(
            try control.signInTickets.make(
                apiToken: bound, container: "iCloud.other", environment: "production", origin: nil) == nil)
        for index in ticket.indices.enumerated().filter({ $0.offset % 7 == 0 }).map(\.element) {
            var changed = ticket
            changed.replaceSubrange(index...index, with: ticket[index] == "3" ? "4" : "3")
            #expect(try control.signInTickets.page(ticket: changed) == nil)
        }
        for text in ["", ".", "00.00", "x", String(ticket.dropLast()), ticket + "00"] {
            #expect(try control.signInTickets.page(ticket: text) == nil)
        }
        clock.advance(bySeconds: 899)
        #expect(try control.signInTickets.page(ticket: ticket) != nil)
        clock.advance(bySeconds: 1)
        #expect(try control.signInTickets.page(ticket: ticket) == nil)
    }

    @Test func aTicketOfARevokedAppIsNone() throws {
        let token = try control.tokens.make(container: "iCloud.todo", name: "page")
        let ticket = try #require(
            try control.signInTickets.make(
                apiToken: token, container: "iCloud.todo", environment: "production", origin: "x\ny"))
        #expect(try control.signInTickets.page(ticket: ticket)?.origin == nil)
        _ = try control.tokens.revoke(container: "iCloud.todo", name: "page")
        #expect(try control.signInTickets.page(ticket: ticket) == nil)
    }
}
