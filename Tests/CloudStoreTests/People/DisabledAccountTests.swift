import CloudStore
import Crypto
import SQLiteTestSupport
import Testing

/// What an account that is disabled comes to in the control file.
@Suite struct DisabledAccountTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let control: ControlStore

    init() throws {
        folder = try TemporaryFolder()
        control = try ControlStore.make(in: folder)
        try control.addContainer(Self.todo)
    }

    private func account() throws -> ControlAccount { try #require(try control.account(named: "ann")) }

    @Test func aDisabledAccountHasAnotherHashUntilItIsEnabled() throws {
        let made = try control.addAccount(name: "ann", passwordHash: "hash")
        let session = try control.makeSession(of: made, container: Self.todo, environment: "production")
        #expect(try control.disableAccount(named: "ANN"))
        #expect(try !control.disableAccount(named: "ann"), "once")
        #expect(try account().isDisabled)
        #expect(try account().passwordHash != "hash", "an earlier version of the program refuses it too")
        #expect(try control.session(token: session.token) == nil)
        #expect(try control.enableAccount(named: "ann"))
        #expect(try !control.enableAccount(named: "ann"))
        #expect(try account() == made)
        #expect(throws: ControlError.noSuchAccount(name: "bob")) { try control.disableAccount(named: "bob") }
    }

    @Test func aNewPasswordOfADisabledAccountCountsWhenItIsEnabled() throws {
        try control.addAccount(name: "ann", passwordHash: "hash")
        try control.disableAccount(named: "ann")
        try control.setPasswordHash("other", ofAccount: "ann")
        #expect(try account().isDisabled)
        #expect(try account().passwordHash != "other")
        try control.enableAccount(named: "ann")
        #expect(try account().passwordHash == "other")
    }

    @Test func aPasswordThatWasCheckedBeforeTheAccountWasShutSignsNobodyIn() throws {
        let checked = try control.addAccount(name: "ann", passwordHash: "hash")
        try control.disableAccount(named: "ann")
        #expect(throws: ControlError.noSuchAccount(name: "ann")) {
            try control.makeSession(of: checked, container: Self.todo, environment: "production")
        }
        try control.enableAccount(named: "ann")
        try control.setPasswordHash("other", ofAccount: "ann")
        #expect(throws: ControlError.noSuchAccount(name: "ann")) {
            try control.makeSession(of: checked, container: Self.todo, environment: "production")
        }
        #expect(try control.sessions().isEmpty)
    }

    @Test func anAccountThatIsMadeAgainIsNotDisabled() throws {
        try control.addAccount(name: "ann", passwordHash: "hash")
        try control.disableAccount(named: "ann")
        try control.removeAccount(named: "ann")
        #expect(try !control.addAccount(name: "ann", passwordHash: "hash").isDisabled)
    }
}
