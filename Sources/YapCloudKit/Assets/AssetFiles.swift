import Foundation
internal import System

/// The files that the sync writes and removes, so that a test can let a disk be full.
package protocol AssetFiles: Sendable {
    /// Copies the file at `source` to `target` and brings it to the disk, the folder's entry too. The folder is made
    /// when it isn't there.
    /// - Throws: `AssetFileError`.
    func copy(_ source: String, to target: String) throws

    /// Writes a file and brings it to the disk, the folder's entry too. The folder is made when it isn't there.
    /// - Throws: `AssetFileError.notWritten`.
    func write(_ bytes: Data, to target: String) throws

    /// Gives a file another name in the same folder, and brings that to the disk.
    /// - Throws: `AssetFileError.notWritten`.
    func move(_ source: String, to target: String) throws

    /// Removes a file; one that isn't there is no error.
    func remove(_ path: String)

    /// The names in a folder, in any order; none when it isn't there.
    func names(in folder: String) -> [String]
}

/// Why a file was not staged.
package enum AssetFileError: Error, Hashable, Sendable {
    /// The source can't be read. The record's change is quarantined until the field has a file that can be read.
    case unreadable(path: String, errno: Int32)
    /// The copy can't be written: the whole commit fails, as it does when the database's own file can't be written.
    case notWritten(path: String, errno: Int32)
}

extension AssetFileError {
    /// A file of ours that can't be written.
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
