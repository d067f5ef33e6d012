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
        try control.containers.add(Self.todo)
    }

    private func account() throws -> ControlAccount { try #require(try control.accounts.find(named: "ann")) }

    @Test func aDisabledAccountHasAnotherHashUntilItIsEnabled() throws {
        let made = try control.accounts.add(name: "ann", passwordHash: "hash")
        let session = try control.sessions.make(of: made, container: Self.todo, environment: "production")
        #expect(try control.accounts.disable(named: "ANN"))
        #expect(try !control.accounts.disable(named: "ann"), "once")
        #expect(try account().isDisabled)
        #expect(try account().passwordHash != "hash", "an earlier version of the program refuses it too")
        #expect(try control.sessions.find(token: session.token) == nil)
        #expect(try control.accounts.enable(named: "ann"))
        #expect(try !control.accounts.enable(named: "ann"))
        #expect(try account() == made)
        #expect(throws: ControlError.noSuchAccount(name: "bob")) {
            try control.accounts.disable(named: "bob")
        }
    }

    @Test func aNewPasswordOfADisabledAccountCountsWhenItIsEnabled() throws {
        try control.accounts.add(name: "ann", passwordHash: "hash")
        try control.accounts.disable(named: "ann")
        try control.accounts.setPasswordHash("other", ofAccount: "ann")
        #expect(try account().isDisabled)
        #expect(try account().passwordHash != "other")
        try control.accounts.enable(named: "ann")
        #expect(try account().passwordHash == "other")
    }

    @Test func aPasswordCheckedBeforeTheAccountWasDisabledDoesNotSignIn() throws {
        let checked = try control.accounts.add(name: "ann", passwordHash: "hash")
        try control.accounts.disable(named: "ann")
        #expect(throws: ControlError.noSuchAccount(name: "ann")) {
            try control.sessions.make(of: checked, container: Self.todo, environment: "production")
        }
        try control.accounts.enable(named: "ann")
        try control.accounts.setPasswordHash("other", ofAccount: "ann")
        #expect(throws: ControlError.noSuchAccount(name: "ann")) {
            try control.sessions.make(of: checked, container: Self.todo, environment: "production")
        }
        #expect(try control.sessions.list().isEmpty)
    }

    @Test func anAccountThatIsMadeAgainIsNotDisabled() throws {
        try control.accounts.add(name: "ann", passwordHash: "hash")
        try control.accounts.disable(named: "ann")
        try control.accounts.remove(named: "ann")
        #expect(try !control.accounts.add(name: "ann", passwordHash: "hash").isDisabled)
    }
}
