import CloudStore
import Crypto
import SQLiteTestSupport
import System
import Testing

/// Tokens of sessions and addresses of sign-in pages: with one bit turned none is taken.
@Suite struct SealedSignInTests {
    private let folder: TemporaryFolder
    private let control: ControlStore
    private let ada: ControlAccount

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.file("control.sqlite"))
        control = try ControlStore(path: folder.file("control.sqlite"), clock: ManualTimeSource())
        _ = try control.containers.add("iCloud.todo")
        ada = try control.accounts.add(name: "ada", passwordHash: "x")
    }

    private func expectSealed(_ text: String, _ isTaken: (String) throws -> Bool) throws {
        try #require(try isTaken(text))
        let bytes = Array(text.utf8)
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(try !isTaken(String(decoding: flipped, as: UTF8.self)), "bit \(bit) of \(text)")
        }
        for length in 0..<bytes.count { #expect(try !isTaken(String(text.prefix(length)))) }
        for other in [text + text, text.uppercased(), text + " ", " " + text, text + "\u{0}", text + "-0"] {
            #expect(try !isTaken(other), "\(other)")
        }
        #expect(try isTaken(text))
    }

    @Test(arguments: [nil, 1_800_000] as [Int64?]) func aSessionsToken(lifeMilliseconds: Int64?) throws {
        let token = try control.sessions.make(
            of: ada, container: "iCloud.todo", environment: "development", lifeMilliseconds: lifeMilliseconds
        ).token
        try expectSealed(token) { try control.sessions.find(token: $0) != nil }
    }

    @Test func anAppsToken() throws {
        let token = try control.tokens.make(container: "iCloud.todo", name: "app")
        try expectSealed(token) { try control.tokens.app(apiToken: $0) != nil }
    }

    @Test func theAddressOfASignInPage() throws {
        let token = try control.tokens.make(
            container: "iCloud.todo", name: "app", origins: ["https://app.example.com"])
        let ticket = try #require(
            try control.signInTickets.make(
                apiToken: token, container: "iCloud.todo", environment: "development",
                origin: "https://app.example.com"))
        try expectSealed(ticket) { try control.signInTickets.isValid($0) }
        try expectSealed(ticket) { try control.signInTickets.page(ticket: $0) != nil }
    }
}
