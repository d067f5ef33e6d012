import CloudKit
import CloudKitAdditions
import Foundation
import NotesKit

/// One device: a folder with the offline copy, and the address of its cloud.
struct Device: Sendable {
    /// Address of the cloud, from `notes login`.
    struct Place: Codable {
        var server: String
        var container: String
        var environment: String
        var apiToken: String?
    }

    let name: String
    private let folder: URL

    /// Opens the folder, and creates it if it doesn't exist.
    init(name: String, folder: String?) throws {
        guard !name.isEmpty, folder != nil || !name.contains("/") else {
            throw NotesFailure.usage("\"\(name)\" is no name for a device")
        }
        self.name = name
        self.folder = URL(filePath: folder ?? "notes-\(name)")
        do {
            try FileManager.default.createDirectory(
                at: self.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw NotesFailure.failed(
                "can't make the folder \(self.folder.path): \(error.localizedDescription)")
        }
    }

    var shelf: NoteShelf { NoteShelf(folder: folder) }
    private var placeFile: URL { folder.appending(path: "cloud.json") }

    func remember(_ place: Place) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(place).write(to: placeFile, options: .atomic)
    }

    /// Returns the container that `notes login` named, or otherwise the program's own, as named by environment
    /// variables.
    func container() throws -> CKContainer {
        guard FileManager.default.fileExists(atPath: placeFile.path) else { return .default() }
        return container(try JSONDecoder().decode(Place.self, from: Data(contentsOf: placeFile)))
    }

    func container(_ place: Place) -> CKContainer {
        var settings = CloudKitConfiguration.Container(
            server: place.server, environment: place.environment, apiToken: place.apiToken)
        settings.credentialFile = folder.appending(path: "credentials.json").path
        return CKContainer(identifier: place.container, configuration: settings)
    }

    /// Prevents other commands on this device until the process ends.
    /// - Throws: `NotesFailure` if one is running.
    func lock() throws {
        let file = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw NotesFailure.failed("another `notes` uses the device \(name)")
        }
    }
}
