import Foundation
internal import System

/// File operations of the sync. A test can replace them to simulate a full disk.
package protocol AssetFiles: Sendable {
    /// Copies the file at `source` to `target`, and syncs the copy and its folder. Creates the folder if it
    /// doesn't exist.
    /// - Throws: `AssetFileError`.
    func copy(_ source: String, to target: String) throws

    /// Writes a file, and syncs it and its folder. Creates the folder if it doesn't exist.
    /// - Throws: `AssetFileError.notWritten`.
    func write(_ bytes: Data, to target: String) throws

    /// Renames a file in its folder, and syncs the folder.
    /// - Throws: `AssetFileError.notWritten`.
    func move(_ source: String, to target: String) throws

    /// Removes a file. Does nothing if it doesn't exist.
    func remove(_ path: String)

    /// Returns the names in a folder, in any order. Empty if the folder doesn't exist.
    func names(in folder: String) -> [String]
}

/// The reason that a file wasn't copied.
package enum AssetFileError: Error, Hashable, Sendable {
    /// The source can't be read. The record's change is quarantined until the field has a readable file.
    case unreadable(path: String, errno: Int32)
    /// The copy can't be written. The whole commit fails, as if the database's own file couldn't be written.
    case notWritten(path: String, errno: Int32)
}

extension AssetFileError {
    /// Makes the error for a file of the sync that can't be written.
    init(_ error: FileError) { self = .notWritten(path: error.path, errno: error.code) }

    /// Runs `body`, and throws a failed call as `notWritten`.
    static func translating<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as FileError {
            throw AssetFileError(error)
        }
    }
}
