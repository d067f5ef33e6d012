import Foundation
internal import System

/// The files on disk.
///
/// A file is copied and never linked. If the app rewrote its file in place, a linked copy would change too, after the
/// commit had determined the bytes to send.
package struct DiskAssetFiles: AssetFiles {
    package init() {}

    package func copy(_ source: String, to target: String) throws {
        // Checked before the folder is created, because a missing source isn't an error of the disk.
        guard access(source, R_OK) == 0 else {
            throw AssetFileError.unreadable(path: source, errno: errno)
        }
        try makeFolder(of: target)
        do throws(FileError) {
            // A file that changes meanwhile is sent with the bytes that were read.
            _ = try DurableFile.copy(source, to: target)
        } catch {
            throw error.path == source
                ? AssetFileError.unreadable(path: source, errno: error.code) : AssetFileError(error)
        }
    }

    package func write(_ bytes: Data, to target: String) throws {
        try makeFolder(of: target)
        try AssetFileError.translating {
            try DurableFile.create(target) { (file) throws(FileError) in try file.write(bytes) }
        }
    }

    package func move(_ source: String, to target: String) throws {
        try AssetFileError.translating { try DurableFile.rename(source, to: target) }
    }

    private func makeFolder(of path: String) throws {
        try AssetFileError.translating { try Folders.make(Folders.parent(of: path)) }
    }

    package func remove(_ path: String) {
        unlink(path)
    }

    package func names(in folder: String) -> [String] {
        (try? Folders.names(in: folder)) ?? []
    }
}
