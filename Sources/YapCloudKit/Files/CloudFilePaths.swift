import Foundation

/// Paths of the files of `CloudFile`s, in a folder beside the database.
struct CloudFilePaths: Sendable {
    let folder: String

    init(database: String, registeredName: String) {
        folder = SyncProcessLock.path(database: database, registeredName: registeredName, suffix: "files")
    }

    func path(of file: CloudFile) -> String { folder + "/" + file.name }

    func url(of file: CloudFile) -> URL { URL(fileURLWithPath: path(of: file), isDirectory: false) }

    /// Returns true if the bytes are on this device.
    func contain(_ file: CloudFile) -> Bool {
        var status = stat()
        return stat(path(of: file), &status) == 0 && Int64(status.st_size) == file.sizeBytes
    }
}
