import Crypto
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

@testable import CloudStore

@Suite struct AdministratorsTests {
    private let folder: TemporaryFolder
    private let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
    private let control: ControlStore
    private let administrators: Administrators
    private let sessions: AdministratorSessions

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlStore.make(in: folder, clock: clock)
        administrators = control.administrators
        sessions = control.administratorSessions
    }

    private func hash(_ password: String) throws -> PasswordHash {
        try PasswordHash(hashing: password, cost: .init(costLog2: 4, blockSize: 8, parallelism: 1))
    }

    private func maria() throws -> Administrator {
        try #require(try administrators.administrator(named: "maria"))
    }

    @Test func namesThatDifferInCaseOnlyAreOneAdministrator() throws {
        try administrators.add("Maria", role: .look)
        #expect(try administrators.administrator(named: "mARIA")?.name == "Maria")
        #expect(throws: ControlError.administratorExists(name: "maria")) {
            try administrators.add("maria", role: .change)
        }
        #expect(throws: ControlError.self) { try administrators.add("two words", role: .look) }
        #expect(throws: ControlError.noSuchAdministrator(name: "bob")) { try administrators.remove("bob") }
    }

    @Test func theLastAdministratorWithTheRoleAdministerStays() throws {
        try administrators.add("maria", role: .administer)
        try administrators.add("bob", role: .change)
        #expect(throws: ControlError.lastAdministrator(name: "maria")) { try administrators.remove("maria") }
        #expect(throws: ControlError.lastAdministrator(name: "maria")) {
            try administrators.setRole(.look, of: "maria")
        }
        #expect(try administrators.setRole(.administer, of: "bob").role == .administer)
        try administrators.remove("maria")
        #expect(try administrators.list().map(\.administrator.name) == ["bob"])
    }

    @Test func aLinkIsGoodOnceAndForTenMinutes() throws {
        try administrators.add("maria", role: .administer)
        let replaced = try administrators.makeLink(for: "maria").secret
        let link = try administrators.makeLink(for: "maria").secret
        #expect(try sessions.make(link: replaced, address: "::1", client: nil) == nil)
        #expect(try sessions.make(link: link, address: "::1", client: nil)?.session.beganWithLink == true)
        #expect(try sessions.make(link: link, address: "::1", client: nil) == nil)
        let late = try administrators.makeLink(for: "maria").secret
        clock.advance(bySeconds: Double(Administrators.linkMilliseconds) / 1_000)
        #expect(try sessions.make(link: late, address: "::1", client: nil) == nil)
    }

    @Test func theFirstLinkMakesAnAdministratorOnceAndNoneWhenOneHasAPassword() throws {
        #expect(try administrators.makeFirstLink() != nil)
        #expect(try administrators.makeFirstLink() != nil)
        #expect(try administrators.list().map(\.administrator.name) == ["admin"])
        #expect(try !administrators.anyHasPassword())
        _ = try administrators.setRole(.administer, of: "admin")
        try administrators.add("bob", role: .look)
        try administrators.setPassword(hash("a long sentence"), of: "bob")
        #expect(try administrators.makeFirstLink() == nil)
        #expect(try administrators.anyHasPassword())
    }

    @Test func theFirstAdministratorGetsAnotherNameWhereAdminIsTaken() throws {
        try administrators.add("admin", role: .look)
        #expect(try administrators.makeFirstLink() != nil)
        #expect(try administrators.list().map(\.administrator.name) == ["admin", "admin2"])
    }

    @Test func aSessionEndsWithoutRequestsAndAtTheLatestAfterAMonth() throws {
        try administrators.add("maria", role: .look)
        let idle = try sessions.make(for: maria(), address: "::1", client: "a browser").token
        #expect(try sessions.session(token: idle)?.client == "a browser")
        #expect(try sessions.session(token: idle + "0") == nil)
        clock.advance(bySeconds: Double(AdministratorSessions.idleMilliseconds - 1) / 1_000)
        #expect(try sessions.session(token: idle) != nil, "which counts as a use")
        clock.advance(bySeconds: Double(AdministratorSessions.idleMilliseconds - 1) / 1_000)
        #expect(try sessions.session(token: idle) != nil)
        clock.advance(bySeconds: Double(AdministratorSessions.idleMilliseconds) / 1_000)
        #expect(try sessions.session(token: idle) == nil)
        #expect(try sessions.list().isEmpty)

        let used = try sessions.make(for: maria(), address: "::1", client: nil).token
        for _ in 0..<59 {
            clock.advance(bySeconds: Double(AdministratorSessions.idleMilliseconds - 1) / 1_000)
            #expect(try sessions.session(token: used) != nil)
        }
        clock.advance(bySeconds: Double(AdministratorSessions.idleMilliseconds - 1) / 1_000)
        clock.advance(bySeconds: Double(60) / 1_000)
        #expect(try sessions.session(token: used) == nil)
    }

    @Test func aPasswordAndARemovalEndTheSessionsAndTheLinkOfBefore() throws {
        try administrators.add("maria", role: .administer)
        try administrators.add("bob", role: .administer)
        let link = try administrators.makeLink(for: "maria").secret
        let token = try sessions.make(for: maria(), address: "::1", client: nil).token
        try administrators.setPassword(hash("a long sentence"), of: "MARIA")
        #expect(try sessions.session(token: token) == nil)
        #expect(try sessions.make(link: link, address: "::1", client: nil) == nil)
        let again = try sessions.make(for: maria(), address: "::1", client: nil).token
        try administrators.remove("maria")
        #expect(try sessions.session(token: again) == nil)
    }

    @Test func anAdministratorsSessionsAreLimitedAndTheOldestEnds() throws {
        try administrators.add("maria", role: .look)
        let tokens = try (0...AdministratorSessions.countMax).map { _ in
            clock.advance(bySeconds: Double(1) / 1_000)
            return try sessions.make(for: maria(), address: "::1", client: nil).token
        }
        #expect(try sessions.list().count == AdministratorSessions.countMax)
        #expect(try sessions.session(token: tokens[0]) == nil)
        #expect(try sessions.session(token: tokens[1]) != nil)
    }

    @Test func noTokenAndNoSecretOfALinkLiesInTheFile() throws {
        try administrators.add("maria", role: .look)
        let token = try sessions.make(for: maria(), address: "::1", client: nil).token
        let link = try administrators.makeLink(for: "maria").secret
        let bytes = try ["", "-wal"].flatMap {
            Array(try Data(contentsOf: URL(filePath: folder.file("control.sqlite\($0)"))))
        }
        for secret in [token, link] {
            #expect(String(decoding: bytes, as: UTF8.self).firstRange(of: secret) == nil)
            #expect(try bytes.firstRange(of: #require(Hex.bytes(secret))) == nil)
        }
    }
}

@Suite struct AuditLogTests {
    private let folder: TemporaryFolder
    private let clock = ManualTimeSource(milliseconds: 1_700_000_000_000)
    private let control: ControlStore
    private let audit: AuditLog

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlStore.make(in: folder, clock: clock)
        audit = control.auditLog
    }

    private func line(_ administrator: String = "maria") -> AuditLine {
        AuditLine(
            administrator: administrator, role: "change", address: "127.0.0.1", action: .recordsChanged)
    }

    @Test func anAuditLineHasAllDetailsAndItsOutcomeIsSetOnce() throws {
        var line = line()
        line.container = "iCloud.com.example.todo"
        line.environment = "production"
        line.database = "private"
        line.user = "_0"
        line.zone = "lists"
        line.names = ["a", "b\u{0}c", "", "é"]
        line.count = 4
        line.requestID = "id"
        let number = try audit.add(line)
        #expect(try audit.lines(linesMax: 1).first?.outcome == .begun)
        try audit.finish(number, outcome: .done, note: "1 CONFLICT")
        try audit.finish(number, outcome: .failed)
        let kept = try #require(try audit.lines(linesMax: 1).first)
        #expect(kept.outcome == .done && kept.note == "1 CONFLICT" && kept.names == ["a", "bc", "", "é"])
        #expect(kept.timeMilliseconds == 1_700_000_000_000 && kept.count == 4 && kept.zone == "lists")
    }

    @Test func linesComeNewestFirstAPageAtATimeOfOneAdministratorOrContainer() throws {
        for number in 0..<5 { try audit.add(line(number % 2 == 0 ? "maria" : "bob")) }
        #expect(try audit.lines(linesMax: 2).map(\.number) == [5, 4])
        #expect(try audit.lines(before: 4, linesMax: 9).map(\.number) == [3, 2, 1])
        #expect(try audit.lines(linesMax: 9, administrator: "BOB").map(\.number) == [4, 2])
        #expect(try audit.lines(linesMax: 9, container: "none").isEmpty)
    }

    @Test func ofTooManyLinesTheOldestGo() throws {
        try audit.add(line())
        try control.file.write { connection in
            try connection.execute(
                "UPDATE sqlite_sequence SET seq = \(AuditLog.linesMax - 1) WHERE name = 'audit'")
        }
        try audit.add(line())
        #expect(try audit.lines(linesMax: 9).map(\.number) == [AuditLog.linesMax, 1])
        try audit.add(line())
        #expect(try audit.lines(linesMax: 9).map(\.number) == [AuditLog.linesMax + 1, AuditLog.linesMax])
    }

    @Test func longNamesAndNotesAreCut() throws {
        var line = line(String(repeating: "n", count: 1_000))
        line.names = (0..<50).map { _ in String(repeating: "x", count: 1_000) }
        line.note = String(repeating: "y", count: 1_000)
        line.zone = "e" + String(repeating: "\u{301}", count: 10_000)
        try audit.add(line)
        #expect(try #require(try audit.lines(linesMax: 1).first?.zone).utf8.count <= 258)
        let kept = try #require(try audit.lines(linesMax: 1).first)
        #expect(kept.administrator.count == 100 && kept.note?.count == 255)
        #expect(kept.names.count == AuditLine.namesMax && kept.names.allSatisfy { $0.count == 255 })
    }
}
