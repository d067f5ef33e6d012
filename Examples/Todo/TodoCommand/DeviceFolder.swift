import CloudKit
import Foundation
import System
import TodoKit
import YapCloudKit

/// Files of one device: the list, the sign-in, its name in the cloud.
struct DeviceFolder: Sendable {
    let name: String
    let url: URL

    /// Opens the folder that the command line names, and creates it if it doesn't exist.
    init(_ call: TodoCall) throws {
        let device = call.value("device")
        guard device != nil || call.has("folder") else {
            throw TodoFailure.usage("which device? --device NAME")
        }
        let path = call.value("folder") ?? "todo-\(device ?? "")"
        url = URL(filePath: path)
        name = device ?? url.lastPathComponent
        guard !name.isEmpty, call.has("folder") || !name.contains("/") else {
            throw TodoFailure.usage("\"\(name)\" is no name for a device")
        }
        do {
            try FileManager.default.createDirectory(
                at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw TodoFailure.failed("can't make the folder \(url.path): \(error.localizedDescription)")
        }
        try configure()
    }

    var listPath: String { file("todo.sqlite") }
    var configurationPath: String { file("cloudkit.json") }
    var credentialPath: String { file("credentials.json") }

    func file(_ name: String) -> String { url.appending(path: name).path }

    /// Opens the list on the program's own container.
    func open(_ role: CloudSync.Role) async throws -> TodoList {
        try await TodoList(path: listPath, container: .default(), role: role)
    }

    /// Points the framework to the device's own file, unless the environment names another. A device that has none yet
    /// still needs a name of its own in the cloud, because devices are told of each other's changes.
    private func configure() throws {
        let environment = ProcessInfo.processInfo.environment
        if environment["CLOUDKIT_CONFIGURATION"] == nil, access(configurationPath, F_OK) == 0 {
            setenv("CLOUDKIT_CONFIGURATION", configurationPath, 1)
        } else if environment["CLOUDKIT_DEVICE_ID"] == nil {
            setenv("CLOUDKIT_DEVICE_ID", try deviceID(), 1)
        }
    }

    private func deviceID() throws -> String {
        let path = file("device-id")
        if let text = try? String(contentsOfFile: path, encoding: .utf8), !text.isEmpty { return text }
        let id = SystemRandomSource().nextUUID()
        let isMade = FileManager.default.createFile(
            atPath: path, contents: Data(id.utf8), attributes: [.posixPermissions: 0o600])
        guard isMade else { throw TodoFailure.failed("can't write \(path)") }
        return id
    }
}
