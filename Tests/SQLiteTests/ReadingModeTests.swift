import Foundation
import SQLiteTestSupport
import Testing

@testable import SQLite

/// How a file is read that may not be written.
@Suite struct ReadingModeTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// A closed database with one row, in a folder in which nothing else is.
    private func closed(_ name: String = "a.sqlite") throws -> String {
        let place = folder.file("place")
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let path = "\(place)/\(name)"
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE items (data BLOB); INSERT INTO items VALUES (1)")
        try connection.close()
        return path
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file("place")).sorted()
    }

    /// The files of a closed database as a process sees them that may read them only.
    private func readable() throws -> DatabaseFiles {
        var files = try #require(DatabaseFiles(path: try closed()))
        (files.canWriteFile, files.canWriteFolder, files.isOwner) = (false, false, false)
        return files
    }

    private func file(bytes: Int64, canRead: Bool = true) -> DatabaseFiles.File {
        DatabaseFiles.File(
            version: .init(device: 1, inode: 1, bytes: bytes, seconds: 0, nanoseconds: 0), canRead: canRead)
    }

    private func missing(_ files: DatabaseFiles) -> MissingPermission? {
        if case .refused(let missing) = ReadingMode(files) { missing } else { nil }
    }

    // MARK: The decision

    @Test func whatNoProcessHasOpenIsReadAlone() throws {
        var files = try readable()
        #expect(ReadingMode(files) == .alone(files))
        // In a folder of one's own, SQLite would leave files beside it that its owner can't use.
        files.canWriteFolder = true
        #expect(ReadingMode(files) == .alone(files))
        // Left behind: no process that has the file open is without a log.
        files.index = file(bytes: 32_768)
        #expect(ReadingMode(files) == .alone(files))
        (files.index, files.log) = (nil, file(bytes: 0))
        #expect(ReadingMode(files) == .alone(files))
        (files.canWriteFile, files.canWriteFolder) = (true, true)
        #expect(ReadingMode(files) == .shared)
    }

    @Test func whatAProcessMayHaveOpenIsReadWithItsLocks() throws {
        var files = try readable()
        (files.log, files.index) = (file(bytes: 0), file(bytes: 32_768))
        #expect(ReadingMode(files) == .shared)
        files.log = file(bytes: 5_000)
        #expect(ReadingMode(files) == .shared)
        files.index = file(bytes: 32_768, canRead: false)
        #expect(missing(files)?.right == .read && missing(files)?.path == files.indexPath)
        files.log = file(bytes: 5_000, canRead: false)
        #expect(missing(files)?.right == .read && missing(files)?.path == files.logPath)
    }

    @Test func commitsThatAreInTheLogAloneAreNotLeftOut() throws {
        var files = try readable()
        files.log = file(bytes: 5_000)
        #expect(missing(files)?.right == .write && missing(files)?.path == files.folder)
        files.canWriteFolder = true
        #expect(missing(files)?.right == .write && missing(files)?.path == files.path)
        files.isOwner = true
        #expect(ReadingMode(files) == .shared)
        (files.log, files.journal) = (nil, file(bytes: 512))
        #expect(missing(files)?.right == .write)
    }

    @Test func aFileThatMayNotBeReadIsNamed() throws {
        var files = try readable()
        files.file = file(bytes: 4_096, canRead: false)
        let read = try #require(missing(files))
        #expect(read.text == "no permission to read (r) the file \(files.path)")
        #expect(read.error.isCannotOpen)
        #expect(ReadingMode(path: folder.file("absent")) == .shared)
    }

    // MARK: Reading alone

    @Test(arguments: ["a.sqlite", "a b%20?immutable=0#c&d=é.sqlite"])
    func aFileThatIsReadAloneGetsNothingBesideIt(_ name: String) throws {
        let path = try closed(name)
        let files = try #require(DatabaseFiles(path: path))
        let connection = try Connection(path: path, mode: .alone(files))
        #expect(
            try connection.transaction(.deferred) { try connection.integer("SELECT count(*) FROM items") }
                == 1)
        #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO items VALUES (2)") }
        try connection.backup(to: folder.file("copy"))
        #expect(try names() == [name])
        try connection.close()
        #expect(try Connection(path: folder.file("copy")).integer("SELECT count(*) FROM items") == 1)
    }

    @Test func whatIsWrittenWhileItIsReadAloneIsReported() throws {
        let path = try closed()
        let files = try #require(DatabaseFiles(path: path))
        let connection = try Connection(path: path, mode: .alone(files))
        func count() throws -> Int64? {
            try connection.transaction(.deferred) { try connection.integer("SELECT count(*) FROM items") }
        }
        #expect(try count() == 1)
        let writer = try Connection(path: path)
        try writer.execute("INSERT INTO items VALUES (zeroblob(100000))")
        let opened = #expect(throws: SQLiteError.self) { try count() }
        #expect(opened?.isBusy == true, "its log is there")
        try writer.close()
        #expect(try names() == ["a.sqlite"])
        let written = #expect(throws: SQLiteError.self) { try count() }
        #expect(written?.isBusy == true)
        let error = #expect(throws: SQLiteError.self) { try connection.backup(to: folder.file("copy")) }
        #expect(error?.isBusy == true)
    }
}
