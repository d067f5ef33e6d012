internal import Crypto
import Foundation
internal import System

/// The folder beside the database with the bytes of `CloudFile`s. A file's name is its checksum and size, and a file
/// never changes.
struct FileFolder: Sendable {
    let paths: CloudFilePaths
    let files: any AssetFiles
    private let random: any RandomSource

    static let lockName = ".lock"
    /// The beginning of the name of a file that isn't complete.
    static let newPrefix = ".new-"
    private static let hashedBytesAtOnce = 256 * 1024

    init(_ paths: CloudFilePaths, files: any AssetFiles, random: any RandomSource) {
        self.paths = paths
        self.files = files
        self.random = random
    }

    /// Makes the file young, so that it isn't removed as unused. Returns false if it isn't on this device.
    /// - Throws: `AssetFileError.notWritten`.
    func touch(_ file: CloudFile) throws -> Bool {
        guard paths.contain(file) else { return false }
        return try locked { touchLocked(file) }
    }

    private func touchLocked(_ file: CloudFile) -> Bool {
        paths.contain(file) && utimes(paths.path(of: file), nil) == 0
    }

    /// Copies a file into the folder.
    /// - Throws: `AssetFileError`.
    func add(copyOf source: String) throws -> CloudFile {
        try add { try files.copy(source, to: $0) }
    }

    /// Writes bytes into the folder.
    /// - Throws: `AssetFileError.notWritten`.
    func add(_ bytes: Data) throws -> CloudFile {
        try add { try files.write(bytes, to: $0) }
    }

    private func add(_ write: (_ path: String) throws -> Void) throws -> CloudFile {
        let new = paths.folder + "/" + Self.newPrefix + random.nextUUID()
        try write(new)
        defer { files.remove(new) }
        let file = try Self.hash(new)
        // An app that changes the file in place would change what its checksum says.
        chmod(new, 0o400)
        try locked {
            if !touchLocked(file) { try files.move(new, to: paths.path(of: file)) }
        }
        return file
    }

    private static func hash(_ path: String) throws -> CloudFile {
        guard let handle = FileHandle(forReadingAtPath: path) else {
            throw AssetFileError.unreadable(path: path, errno: errno)
        }
        defer { try? handle.close() }
        var hash = try SHA256()
        var size: Int64 = 0
        while let bytes = try handle.read(upToCount: hashedBytesAtOnce), !bytes.isEmpty {
            try bytes.withUnsafeBytes { try hash.update($0) }
            size += Int64(bytes.count)
        }
        let digest = Array(try hash.finish().prefix(CloudFile.digestDigits / 2))
        return CloudFile(digest: Hex.text(digest), sizeBytes: size)
    }

    /// Runs `body` while no other thread or process adds or removes a file.
    func locked<Result>(_ body: () throws -> Result) throws -> Result {
        let lock = paths.folder + "/" + Self.lockName
        let file = try AssetFileError.translating {
            let file = try OpenFile(lock, .updatingOrCreating)
            try file.lock(waits: true)
            return file
        }
        defer { withExtendedLifetime(file) {} }
        return try body()
    }
}
