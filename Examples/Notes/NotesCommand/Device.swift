import CloudKit
import CloudKitAdditions
import Foundation
import NotesKit

/// One device: a folder with the offline copy, and where its cloud is.
struct Device: Sendable {
    /// Where the cloud is, as `notes login` was told.
    struct Place: Codable {
        var server: String
        var container: String
        var environment: String
        var apiToken: String?
    }

    let name: String
    private let folder: URL

    /// Takes the folder, and makes it when it isn't there.
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

    /// The container that `notes login` named; without it the program's own, as environment variables name it.
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

    /// Keeps other commands away from this device until the process ends.
    /// - Throws: `NotesFailure` when one runs.
    func lock() throws {
        let file = open(folder.appending(path: "lock").path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw NotesFailure.failed("another `notes` uses the device \(name)")
        }
    }
}
