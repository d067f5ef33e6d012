import CloudStore
import Crypto
import SQLite
import SQLiteTestSupport
import System
import Testing

/// What apps and servers bring with their requests, in the control file.
@Suite struct ControlKeyTests {
    private let folder: TemporaryFolder
    private let control: ControlStore

    init() throws {
        folder = try TemporaryFolder()
        try ControlStore.make(path: folder.path + "/control.sqlite")
        control = try ControlStore(path: folder.path + "/control.sqlite")
    }

    @Test func anAppKeepsItsOriginsItsCallbackAndItsNotes() throws {
        let token = try control.tokens.make(
            container: "iCloud.todo", name: "web",
            origins: ["HTTPS://App.example.com:443/", "http://localhost:3000", "http://localhost:3000"],
            callback: "https://app.example.com/signed-in?x=1", notes: "the page's")
        let app = try #require(try control.tokens.app(apiToken: token))
        #expect(app.origins == ["http://localhost:3000", "https://app.example.com"])
        #expect(app.callback == "https://app.example.com/signed-in?x=1" && app.name == "web")
        let kept = try #require(try control.tokens.list().first)
        #expect(kept.origins == app.origins && kept.notes == "the page's" && kept.callback == app.callback)
        let open = try control.tokens.make(container: "iCloud.todo", name: "any")
        #expect(try control.tokens.app(apiToken: open)?.origins == nil)
        #expect(try control.tokens.app(apiToken: "another") == nil)
        #expect(try control.tokens.revoke(container: "iCloud.todo", name: "web"))
        #expect(try control.tokens.app(apiToken: token) == nil)
    }

    @Test(arguments: [
        "", "example.com", "*", "https://", "https://*.example.com", "https://example.com/path",
        "ftp://example.com",
        "https://user@example.com", "https://example.com:0", "https://example.com:99999",
        "https://exam ple.com",
        "https://example.com:", "https://[::1", "https://[g]", "null", "https://a\nhttps://b",
        "https://ex,ample",
    ])
    func whatIsNoOriginIsRefused(text: String) throws {
        #expect(throws: ControlError.badOrigin(text)) {
            try control.tokens.make(container: "iCloud.todo", name: "web", origins: [text])
        }
    }

    @Test(arguments: [
        "https://example.com", "http://[::1]:8080", "todo-app://signed-in", "https://a.b:8443/c?d=e%20",
    ])
    func anAddressMayBeACallback(text: String) throws {
        let token = try control.tokens.make(container: "iCloud.todo", name: "web", callback: text)
        #expect(try control.tokens.app(apiToken: token)?.callback == text)
    }

    @Test(arguments: [
        "", "/signed-in", "example.com", "javascript:alert(1)", "JavaScript://x", "data:text/html,x",
        "https:///x",
        "file:///etc/passwd", "https://example.com/#token", "https://example.com/ x",
        "https://example.com/\"x",
        "https://exa\nmple.com", "https://user@example.com/", "about://x", "1http://x",
        "https://example.com\\@evil",
    ])
    func whatIsNoAddressIsNoCallback(text: String) throws {
        #expect(throws: ControlError.badCallback(text)) {
            try control.tokens.make(container: "iCloud.todo", name: "web", callback: text)
        }
    }

    @Test func aKeyIsKeptUntilItIsRevoked() throws {
        let key = try P256PrivateKey().publicKey
        let made = try control.serverKeys.add(
            container: "iCloud.todo", environment: "production", name: "jobs", publicKey: key.der)
        #expect(made.id.count == 64 && made.publicKey == key.der)
        #expect(made.userRecordName.count == 33 && made.userRecordName.hasPrefix("_"))
        #expect(try control.serverKeys.find(id: made.id) == made)
        #expect(try control.serverKeys.list(container: "iCloud.todo") == [made])
        #expect(try control.serverKeys.list(container: "iCloud.other") == [])
        #expect(try control.containers.exists("iCloud.todo"))
        let again = ControlError.keyExists(name: "jobs", container: "iCloud.todo", environment: "production")
        #expect(throws: again) {
            try control.serverKeys.add(
                container: "iCloud.todo", environment: "production", name: "jobs", publicKey: key.der)
        }
        let other = try control.serverKeys.add(
            container: "iCloud.todo", environment: "development", name: "jobs", publicKey: key.der)
        #expect(other.id != made.id && other.userRecordName != made.userRecordName)
        #expect(try control.serverKeys.find(id: "jobs") == nil)
        #expect(
            try control.serverKeys.revoke(container: "iCloud.todo", environment: "production", name: "jobs"))
        #expect(try control.serverKeys.find(id: made.id) == nil)
        #expect(
            try !control.serverKeys.revoke(container: "iCloud.todo", environment: "production", name: "jobs"))
        #expect(try control.serverKeys.list() == [other])
    }

    @Test func whatIsNoKeyIsNotKept() throws {
        #expect(throws: ControlError.badKey) {
            try control.serverKeys.add(
                container: "iCloud.todo", environment: "production", name: "jobs", publicKey: [1, 2, 3])
        }
        #expect(throws: ControlError.self) {
            try control.serverKeys.add(
                container: "iCloud.todo", environment: "test", name: "jobs",
                publicKey: P256PrivateKey().publicKey.der)
        }
        #expect(try control.serverKeys.list() == [])
    }
}
