import CloudKit
import CloudKitAdditions
import Foundation

/// `todo login`: signs this device in.
struct LoginCommand {
    let call: TodoCall
    let folder: DeviceFolder

    func run() async throws -> Int32 {
        let environment = ProcessInfo.processInfo.environment
        func setting(_ option: String, _ variable: String) -> String? {
            call.value(option) ?? environment[variable]
        }
        guard let server = setting("server", "CLOUDKIT_SERVER") else {
            throw TodoFailure.usage("--server is missing")
        }
        guard let container = setting("container", "CLOUDKIT_CONTAINER") else {
            throw TodoFailure.usage("--container is missing")
        }
        guard let account = call.value("account") else { throw TodoFailure.usage("--account is missing") }
        let place = Place(
            server: server, environment: setting("environment", "CLOUDKIT_ENVIRONMENT") ?? "development",
            apiToken: setting("api-token", "CLOUDKIT_API_TOKEN"), credentialFile: "credentials.json")
        let file = ConfigurationFile(defaultContainer: container, containers: [container: place])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(file).write(to: URL(filePath: folder.configurationPath), options: .atomic)
        var settings = CloudKitConfiguration.Container(server: server, environment: place.environment)
        settings.apiToken = place.apiToken
        settings.credentialFile = folder.credentialPath
        do {
            let user = try await CKContainer(identifier: container, configuration: settings)
                .signIn(account: account, password: try password())
            if call.isJSON {
                try Output.json(["account": account, "userRecordName": user.recordName])
            } else {
                Output.line("\(folder.name) is signed in as \(account) (\(user.recordName))")
            }
            return 0
        } catch let error as CKError {
            throw TodoFailure.failed("\(account) was not signed in: \(error.localizedDescription)")
        }
    }

    private func password() throws -> String {
        if call.has("password-stdin") {
            guard let line = readLine(), !line.isEmpty else {
                throw TodoFailure.failed("there is no password to read")
            }
            return line
        }
        guard let typed = getpass("Password: ") else {
            throw TodoFailure.usage("no terminal: use --password-stdin")
        }
        return String(cString: typed)
    }
}

private struct ConfigurationFile: Encodable {
    let defaultContainer: String
    let containers: [String: Place]
}

private struct Place: Encodable {
    let server: String
    let environment: String
    let apiToken: String?
    let credentialFile: String
}
