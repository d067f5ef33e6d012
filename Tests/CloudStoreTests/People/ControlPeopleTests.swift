import CloudStore
import Crypto
import SQLiteTestSupport
import System
import Testing

/// What people tell of themselves, and whom.
@Suite struct ControlPeopleTests {
    private static let todo = "iCloud.com.example.todo"
    private let folder: TemporaryFolder
    private let store: ControlStore

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.file("control.sqlite"))
        store = try ControlStore(
            path: folder.file("control.sqlite"), clock: ManualTimeSource(), monotonic: ManualMonotonicSource()
        )
    }

    @Test func anEmailAddressBelongsToOneAccountInAnyCase() throws {
        let ann = try store.accounts.add(name: "ann", email: "ann@example.com", passwordHash: "hash")
        #expect(ann.email == "ann@example.com")
        #expect(throws: ControlError.emailTaken("ANN@example.com")) {
            try store.accounts.add(name: "bob", email: "ANN@example.com", passwordHash: "hash")
        }
        try store.accounts.add(name: "bob", passwordHash: "hash")
        #expect(throws: ControlError.emailTaken("ann@example.com")) {
            try store.accounts.changePerson(ofAccount: "bob", email: "ann@example.com")
        }
        #expect(
            try store.accounts.changePerson(ofAccount: "ann", email: "Ann@example.com").email
                == "Ann@example.com")
    }

    @Test func whatIsNotNamedStaysAndAnEmptyTextTakesAway() throws {
        try store.accounts.add(name: "ann", givenName: "Ann", familyName: "Lee", passwordHash: "hash")
        let changed = try store.accounts.changePerson(
            ofAccount: "ann", givenName: "", email: "ann@example.com")
        #expect(changed.givenName == nil && changed.familyName == "Lee" && changed.email == "ann@example.com")
        #expect(try store.accounts.find(named: "ann") == changed)
        #expect(try store.accounts.changePerson(ofAccount: "ann", email: "").email == nil)
        #expect(throws: ControlError.noSuchAccount(name: "bob")) {
            try store.accounts.changePerson(ofAccount: "bob")
        }
    }

    @Test(arguments: [
        "a", "@", "a@", "@b", "a@b@c", "a b@c", "ä@b", String(repeating: "a", count: 254) + "@b",
    ])
    func whatIsNoAddressIsRefused(_ email: String) throws {
        #expect(throws: ControlError.self) {
            try store.accounts.add(name: "ann", email: email, passwordHash: "hash")
        }
    }

    @Test func whoIsDiscoverableIsFoundInTheContainerAndNowhereElse() throws {
        let ann = try store.accounts.add(
            name: "ann", givenName: "Ann", email: "ann@example.com", passwordHash: "hash")
        try store.containers.add(Self.todo)
        let session = try store.sessions.make(of: ann, container: Self.todo, environment: "development")
            .session
        let name = session.userRecordName
        #expect(try store.people.discoverability(of: session) == ControlDiscoverability())
        #expect(try store.people.find(email: "ann@example.com", container: Self.todo) == nil)
        try store.people.setDiscoverability(ControlDiscoverability(isDiscoverable: true), of: session)
        let found = try store.people.find(email: "ANN@example.com", container: Self.todo)
        #expect(found?.userRecordName == name && found?.givenName == "Ann")
        #expect(try store.people.find(userRecordName: name, container: Self.todo) == found)
        #expect(try store.people.find(email: "ann@example.com", container: "iCloud.other") == nil)
        #expect(try store.people.find(userRecordName: name, container: "iCloud.other") == nil)
        #expect(try store.people.list(container: Self.todo, countMax: 10) == [])
        try store.people.setDiscoverability(
            ControlDiscoverability(isDiscoverable: true, isListed: true), of: session)
        #expect(try store.people.list(container: Self.todo, countMax: 10).map(\.userRecordName) == [name])
        #expect(try store.people.list(container: Self.todo, countMax: 0) == [])
        #expect(try store.people.discoverability(of: session).isListed)
        try store.people.setDiscoverability(ControlDiscoverability(), of: session)
        #expect(try store.people.find(userRecordName: name, container: Self.todo) == nil)
    }
}
