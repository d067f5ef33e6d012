import CloudKit
import CloudKitAdditions
import Foundation
import Testing

/// A folder that is there while the value is.
final class Folder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "yap-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        return file
    }
}

@Suite struct ConfigurationTests {
    private func read(_ folder: Folder, _ environment: [String: String] = [:]) -> CloudConfiguration {
        var environment = environment
        environment["XDG_CONFIG_HOME"] = environment["XDG_CONFIG_HOME"] ?? folder.path + "/config"
        return CloudConfiguration(environment: environment, currentFolder: folder.path)
    }

    /// What the first operation of a container ends with.
    private func refusal(_ configuration: CloudConfiguration, _ identifier: String? = nil) async -> CKError? {
        let container = CKContainer(identifier: identifier, configuration: configuration)
        do {
            _ = try await container.privateCloudDatabase.allRecordZones()
            return nil
        } catch {
            return error as? CKError
        }
    }

    private func server(_ configuration: CloudConfiguration, _ identifier: String? = nil) throws -> String? {
        let place = try CKContainer(identifier: identifier, configuration: configuration).resolved()
        return (place.connection.transport as? HTTPTransport)?.serverURL
    }

    @Test func withoutAConfigurationTheFirstOperationSaysWhatToWriteAndWhere() async throws {
        let folder = try Folder()
        let error = try #require(await refusal(read(folder), "iCloud.com.example.todo"))
        #expect(error.code == .badContainer)
        for part in [
            #"{"defaultContainer": "iCloud.com.example.todo", "containers": {"iCloud.com.example.todo": "#
                + #"{"server": "http://127.0.0.1:8080", "environment": "development"}}}"#,
            folder.path + "/cloudkit.json", folder.path + "/config/yap/cloudkit.json", "CLOUDKIT_SERVER=",
            "CLOUDKIT_CONTAINER=iCloud.com.example.todo", "CKContainer.configure", "TestCloud",
        ] {
            #expect(error.localizedDescription.contains(part), "\(part)")
        }
        let own = try #require(await refusal(read(folder)))
        #expect(own.code == .badContainer && own.localizedDescription.contains("The default container"))
        // What it says is right.
        try folder.write(
            "cloudkit.json",
            #"{"defaultContainer": "iCloud.com.example.todo", "containers": {"iCloud.com.example.todo": "#
                + #"{"server": "http://127.0.0.1:8080", "environment": "development"}}}"#)
        #expect(try server(read(folder)) == "http://127.0.0.1:8080")
        let container = CKContainer(identifier: nil, configuration: read(folder))
        #expect(container.containerIdentifier == "iCloud.com.example.todo")
    }

    @Test func theFirstFileThatIsThereCounts() throws {
        let folder = try Folder()
        func text(_ port: Int) -> String { #"{"containers": {"a": {"server": "http://h:\#(port)/"}}}"# }
        try folder.write("config/yap/cloudkit.json", text(1))
        #expect(try server(read(folder), "a") == "http://h:1")
        try folder.write("cloudkit.json", text(2))
        #expect(try server(read(folder), "a") == "http://h:2")
        try folder.write("named.json", text(3))
        #expect(try server(read(folder, ["CLOUDKIT_CONFIGURATION": "named.json"]), "a") == "http://h:3")
    }

    @Test func aVariableCountsBeforeTheFile() throws {
        let folder = try Folder()
        try folder.write(
            "cloudkit.json",
            #"{"defaultContainer": "a", "containers": {"a": {"server": "http://a", "apiToken": "x"}, "#
                + #""b": {"server": "http://b"}}}"#
        )
        let both = read(
            folder,
            ["CLOUDKIT_CONTAINER": "b", "CLOUDKIT_SERVER": "http://c", "CLOUDKIT_ENVIRONMENT": "production"])
        #expect(both.defaultContainer == "b" && both.containers["b"]?.environment == "production")
        #expect(try server(both) == "http://c" && server(both, "a") == "http://a")
        let any = read(folder, ["CLOUDKIT_SERVER": "http://d"])
        #expect(try server(any) == "http://d" && server(any, "unknown") == "http://d")
        #expect(any.containers["a"]?.apiToken == "x")
    }

    @Test func theTokensOfVariablesAreSent() throws {
        let folder = try Folder()
        let configuration = read(
            folder,
            [
                "CLOUDKIT_CONTAINER": "a", "CLOUDKIT_SERVER": "http://a", "CLOUDKIT_API_TOKEN": "app",
                "CLOUDKIT_WEB_AUTH_TOKEN": "user", "CLOUDKIT_DEVICE_ID": "device",
            ])
        let place = try CKContainer(identifier: nil, configuration: configuration).resolved()
        #expect(
            try place.connection.account.credential()
                == CloudCredential(webAuthToken: "user", apiToken: "app", deviceID: "device"))
    }

    @Test(arguments: [
        ("{\n\"defaultContainer\": \"a\",\n}", 3, "a key is missing after a comma"),
        ("{\"containers\":\n{\"a\":\n{\"sever\": \"x\"}}}", 3, "sever"),
        ("{\"containers\":\n 7}", 2, "an object"), ("{}\n{}", 2, "something follows"),
        ("\n\n[", 3, "ends too early"), ("", 1, "ends too early"),
        ("{\"containers\": {\"a\": {\"server\":\n\n null}}}", 3, "a text"),
        ("{\"default\": 1}", 1, "defaultContainer, containers"),
    ]) func anErrorInTheFileIsReportedWithItsLine(text: String, line: Int, words: String) async throws {
        let folder = try Folder()
        let path = try folder.write("cloudkit.json", text)
        let error = try #require(await refusal(read(folder), "a"))
        #expect(error.code == .badContainer)
        #expect(error.localizedDescription.hasPrefix("\(path):\(line): "), "\(error.localizedDescription)")
        #expect(error.localizedDescription.contains(words), "\(error.localizedDescription)")
    }

    @Test func invalidServersAndFilesAreErrorsAndNoCrash() async throws {
        let folder = try Folder()
        for server in ["127.0.0.1:8080", "ftp://a", "http://", "http://a b", "http://a?b", "https:///"] {
            let error = await refusal(
                read(folder, ["CLOUDKIT_CONTAINER": "a", "CLOUDKIT_SERVER": server]))
            #expect(error?.code == .badContainer, "\(server)")
        }
        let environment = await refusal(
            read(
                folder,
                [
                    "CLOUDKIT_CONTAINER": "a", "CLOUDKIT_SERVER": "http://a", "CLOUDKIT_ENVIRONMENT": "test",
                ]))
        #expect(environment?.localizedDescription.contains("development or production") == true)
        let missing = await refusal(read(folder, ["CLOUDKIT_CONFIGURATION": "/nowhere/x.json"]), "a")
        #expect(missing?.localizedDescription.contains("/nowhere/x.json") == true)
        try FileManager.default.createDirectory(
            atPath: folder.path + "/cloudkit.json", withIntermediateDirectories: true)
        #expect(await refusal(read(folder), "a")?.code == .badContainer)
    }

    @Test func oneCallSaysWhereTheCloudIs() async throws {
        await #expect(processExitsWith: .success) {
            var configuration = CloudKitConfiguration()
            configuration.defaultContainer = "iCloud.a"
            configuration.containers["iCloud.a"] = .init(
                server: "http://127.0.0.1:1", webAuthToken: "t", deviceID: "d")
            CKContainer.configure(configuration)
            let place = try CKContainer.default().resolved()
            let named = try CKContainer(identifier: "iCloud.a").resolved()
            guard CKContainer.default().containerIdentifier == "iCloud.a", place.identifier == "iCloud.a",
                named.connection.environment == "development"
            else { exit(1) }
            exit(0)
        }
    }

    @Test func whoListensIsHeardOnceTheCloudIsNamed() async throws {
        await #expect(processExitsWith: .success) {
            let container = CKContainer(identifier: "iCloud.listened")
            var codes: [CKError.Code] = []
            for await event in container.notifications() {
                guard case .interrupted(let error) = event else { exit(1) }
                codes.append(error.code)
                if codes == [.badContainer, .networkUnavailable] { exit(0) }
                var configuration = CloudKitConfiguration()
                configuration.containers["iCloud.listened"] = .init(
                    server: "http://127.0.0.1:1", webAuthToken: "t", deviceID: "d")
                CKContainer.configure(configuration)
            }
        }
    }

    @Test func theDefaultContainerIsTheOneOfTheVariables() async throws {
        await #expect(processExitsWith: .success) {
            setenv("CLOUDKIT_CONTAINER", "iCloud.b", 1)
            setenv("CLOUDKIT_SERVER", "http://127.0.0.1:1", 1)
            setenv("CLOUDKIT_WEB_AUTH_TOKEN", "t", 1)
            setenv("CLOUDKIT_DEVICE_ID", "d", 1)
            guard CKContainer.default().containerIdentifier == "iCloud.b" else { exit(1) }
            do {
                _ = try await CKContainer.default().privateCloudDatabase.allRecordZones()
                exit(2)
            } catch let error as CKError {
                exit(error.code == .networkUnavailable ? 0 : 3)
            }
        }
    }

    @Test func theAuthoritiesOfAVariableAreTrustedAndCountBeforeTheFiles() throws {
        let folder = try Folder()
        try folder.write(
            "cloudkit.json",
            #"{"containers": {"a": {"server": "https://a", "authoritiesFile": "of-the-file.pem"}}}"#)
        #expect(read(folder).containers["a"]?.authoritiesFile == folder.path + "/of-the-file.pem")
        let near = read(folder, ["CLOUDKIT_AUTHORITIES_FILE": "near.pem"])
        #expect(near.containers["a"]?.authoritiesFile == folder.path + "/near.pem")
        let far = read(folder, ["CLOUDKIT_SERVER": "https://b", "CLOUDKIT_AUTHORITIES_FILE": "/far.pem"])
        #expect(
            far.containers["a"]?.authoritiesFile == "/far.pem"
                && far.everyOther?.authoritiesFile == "/far.pem")
    }
}
