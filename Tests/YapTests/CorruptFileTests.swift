import Foundation
import SQLite
import System
import Testing

@testable import Yap

/// What opening does with a damaged file.
struct CorruptFileTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try makeDamaged()
    }

    /// A file whose pages but the first's header are damaged.
    private func makeDamaged() throws {
        let made = try TestFolder()
        let database = try made.open()
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<200 { try transaction.set("some text to fill pages", "\(number)") }
        }
        try database.blocking.close()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: made.file))
        bytes.replaceSubrange(100..<bytes.count, with: Data(repeating: 0xA5, count: bytes.count - 100))
        try bytes.write(to: URL(fileURLWithPath: folder.file))
    }

    private func options(_ action: YapDatabaseOptions.CorruptAction) -> YapDatabaseOptions {
        var options = YapDatabaseOptions()
        options.whenCorrupt = action
        return options
    }

    /// The files, without logs and their indexes, which SQLite makes for a file that it only reads.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") }.sorted()
    }

    private func bytes(_ path: String) throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    @Test func aDamagedFileIsRenamedByChoiceAndItsPathIsReported() throws {
        let damaged = try bytes(folder.file)
        for number in 1...2 {
            let database = try folder.open(options(.rename))
            let corruption = try #require(database.corruption)
            #expect(corruption.error.code == .corrupt)
            #expect(corruption.renamedPath == "\(folder.file).\(number).corrupt")
            #expect(try bytes(#require(corruption.renamedPath)) == damaged)
            try database.newConnection().blocking.readWrite { try $0.set("new", "1") }
            try database.blocking.close()
            let again = try folder.open(options(.rename))
            #expect(again.corruption == nil)
            #expect(
                try again.newConnection().blocking.read { try $0.allKeys(inCollection: "todos") } == ["1"])
            try again.blocking.close()
            try damaged.write(to: URL(fileURLWithPath: folder.file))
        }
        #expect(try names() == ["test.yap", "test.yap.1.corrupt", "test.yap.2.corrupt"])
    }

    @Test(arguments: [YapDatabaseOptions.CorruptAction.rename, .delete])
    func theLogIsRemovedWithADamagedFile(action: YapDatabaseOptions.CorruptAction) throws {
        for suffix in ["-wal", "-journal", "-shm"] {
            try Data(suffix.utf8).write(to: URL(fileURLWithPath: folder.file + suffix))
        }
        var attempts = 0
        let (result, corruption) = try CorruptFile(path: folder.file, options: options(action)).opening {
            attempts += 1
            if attempts < 3 { throw YapDatabaseError(.corrupt, "damaged") }
            return FileManager.default.fileExists(atPath: folder.file)
        }
        #expect(attempts == 3 && !result && corruption?.error.code == .corrupt)
        let renamed = ["", "-wal", "-journal"].map { "test.yap.1.corrupt" + $0 }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(left == (action == .rename ? renamed.sorted() : []))
    }

    @Test(arguments: [YapDatabaseOptions.CorruptAction.rename, .delete])
    func eachCallThatMovesADamagedFileReportsItsFailure(action: YapDatabaseOptions.CorruptAction) throws {
        /// Finds the file damaged while the call `failing` fails.
        /// - Returns: The calls, and whether the failure was reported.
        func calls(failing: Int?) throws -> (steps: [FileStep], isReported: Bool) {
            for suffix in ["", "-wal", "-journal", "-shm"] {
                try Data(suffix.utf8).write(to: URL(fileURLWithPath: folder.file + suffix))
            }
            let steps = Lock([FileStep]())
            var file = CorruptFile(path: folder.file, options: options(action))
            file.calls = FileCalls { step, _ in
                steps.withLock { steps in
                    steps.append(step)
                    return steps.count - 1 == failing ? EIO : nil
                }
            }
            var attempts = 0
            var isReported = false
            do {
                _ = try file.opening {
                    attempts += 1
                    if attempts < 3 { throw YapDatabaseError(.corrupt, "damaged") }
                }
                #expect(attempts == 3)
            } catch let error as YapDatabaseError {
                #expect(error.code == .cannotOpen && attempts == 2)
                #expect("\(error)".contains("the damaged file can't be moved"))
                #expect("\(error)".contains(folder.path))
                isReported = true
            }
            return (steps.withLock { $0 }, isReported)
        }
        let all = try calls(failing: nil).steps
        let move = action == .rename ? FileStep.rename : .remove
        #expect(all == [move, move, move, .remove, .open, .syncFolder])
        for failing in all.indices {
            let failed = try calls(failing: failing)
            #expect(failed.steps == Array(all[...failing]), "\(all[failing])")
            // A file that was moved is reported as moved, though its folder can't be synced.
            #expect(failed.isReported == (failing < 4), "\(all[failing])")
        }
    }

    @Test func aDamagedFileIsDeletedByChoice() throws {
        let database = try folder.open(options(.delete))
        #expect(database.corruption?.error.code == .corrupt)
        #expect(database.corruption?.renamedPath == nil)
        #expect(try database.newConnection().blocking.read { try $0.numberOfKeysInAllCollections() } == 0)
        try database.blocking.close()
        #expect(try names() == ["test.yap"])
    }

    @Test func aFileThatAnotherProcessHasReplacedMeanwhileIsNotMoved() throws {
        var attempts = 0
        let (_, corruption) = try CorruptFile(path: folder.file, options: options(.delete)).opening {
            attempts += 1
            if attempts == 1 { throw YapDatabaseError(.corrupt, "damaged") }
        }
        #expect(attempts == 2 && corruption == nil)
        #expect(FileManager.default.fileExists(atPath: folder.file))
    }

    @Test func aFileThatMayBeMovedIsOpenedByOneInstanceAfterTheOther() throws {
        /// Whether another instance would have to wait.
        func isLocked() -> Bool {
            let other = open(folder.path, O_RDONLY | O_DIRECTORY)
            defer { close(other) }
            return flock(other, LOCK_EX | LOCK_NB) != 0
        }
        var attempts: [Bool] = []
        _ = try CorruptFile(path: folder.file, options: options(.rename)).opening {
            attempts.append(isLocked())
            if attempts.count < 3 { throw YapDatabaseError(.corrupt, "damaged") }
        }
        #expect(attempts == [true, true, true])
        #expect(!isLocked())
        _ = try CorruptFile(path: folder.file, options: YapDatabaseOptions()).opening { #expect(!isLocked()) }
    }

    @Test func aFileThatIsNoDatabaseIsNeverDeletedAsItMayBeEncrypted() throws {
        let text = Data(String(repeating: "no database ", count: 999).utf8)
        try text.write(to: URL(fileURLWithPath: folder.file))
        for action in [YapDatabaseOptions.CorruptAction.rename, .delete] {
            #expect(code { _ = try folder.open(options(action)) } == .notADatabase)
            #expect(try bytes(folder.file) == text)
            #expect(try names() == ["test.yap"])
        }
    }

    @Test func aFileThatLacksTheSnapshotIsDamagedToo() throws {
        try FileManager.default.removeItem(atPath: folder.file)
        try folder.open().blocking.close()
        let sqlite = try Connection(path: folder.file)
        try sqlite.execute("DELETE FROM yap2")
        try sqlite.close()
        #expect(code { _ = try folder.open() } == .corrupt)
        #expect(try folder.open(options(.rename)).corruption?.error.code == .corrupt)
    }

    @Test func aFileThatIsSoundOrOfAnotherProgramIsNeverRenamed() throws {
        let made = folder.path + "/other"
        let other = try Connection(path: made)
        try other.execute("PRAGMA journal_mode = DELETE; CREATE TABLE letters (body TEXT)")
        try other.close()
        let before = try bytes(made)
        func open() throws { _ = try YapDatabase(path: made, options: options(.delete)) { _ in } }
        #expect(code(open) == .notAYapDatabase)
        #expect(try bytes(made) == before)
        let folder = try TestFolder()
        try folder.open().blocking.close()
        let sqlite = try Connection(path: folder.file)
        try sqlite.execute("PRAGMA user_version = 99")
        try sqlite.close()
        #expect(code { _ = try folder.open(options(.delete)) } == .unsupportedFormat)
        #expect(
            code { _ = try YapDatabase(path: folder.path + "/none/x", options: options(.delete)) { _ in } }
                != nil)
    }

    @Test func ofInstancesThatFindTheDamageAtTheSameTimeOneMovesTheFileAndAllOpenTheNewOne() throws {
        let opened = WorkQueue<Result<YapDatabase, any Error>>()
        for _ in 0..<6 {
            let isStarted = startThread { [folder] in
                _ = opened.push(Result { try folder.open(options(.rename)) })
            }
            #expect(isStarted)
        }
        let databases = try (0..<6).compactMap { _ in try opened.take(max: 1)?.first?.get() }
        #expect(databases.count == 6)
        #expect(databases.filter { $0.corruption != nil }.count == 1)
        for (index, database) in databases.enumerated() {
            try database.newConnection().blocking.readWrite { try $0.set("t", "\(index)") }
        }
        #expect(try databases[0].newConnection().blocking.read { try $0.numberOfKeysInAllCollections() } == 6)
    }
}

/// Databases in memory.
struct MemoryDatabaseTests {
    private func open() throws -> YapDatabase {
        try YapDatabase(inMemory: YapDatabaseOptions()) { $0.register(Todo.self, inCollection: "todos") }
    }

    @Test func aDatabaseInMemoryWorksLikeAFileAndIsDeletedWhenItIsClosed() async throws {
        let (one, other) = (try open(), try open())
        let connection = one.newConnection()
        try await connection.readWrite { try $0.set("eggs", "1") }
        let counts = try await connection.read { transaction in
            // A write during a read, as with a file.
            try connection.blocking.readWrite { try $0.set("milk", "2") }
            return try transaction.numberOfKeysInAllCollections()
        }
        #expect(counts == 1)
        #expect(try await connection.read { try $0.numberOfKeysInAllCollections() } == 2)
        #expect(try await other.newConnection().read { try $0.numberOfKeysInAllCollections() } == 0)
        let folder = String(one.path.dropLast("/memory.yap".count))
        #expect(FileManager.default.fileExists(atPath: folder))
        try await one.close()
        #expect(!FileManager.default.fileExists(atPath: folder))
        try await connection.flushMemory()
    }

    @Test func aDatabaseInMemoryIsDeletedWithItsLastReference() throws {
        var path = ""
        do {
            let database = try open()
            path = database.path
            try database.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func theFolderOfAKilledProcessIsDeletedByTheNextOne() throws {
        let parent = try TestFolder()
        let live = try MemoryFolder(in: parent.path)
        // What a killed process leaves: a lock that nobody holds.
        let left = parent.path + "/yap-memory-killed"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: left + "/lock"))
        let next = try MemoryFolder(in: parent.path)
        #expect(!FileManager.default.fileExists(atPath: left))
        #expect(FileManager.default.fileExists(atPath: live.path))
        #expect(FileManager.default.fileExists(atPath: next.path))
    }

    @Test(arguments: [EWOULDBLOCK, ENOLCK])
    func aFolderInMemoryThatCannotBeLockedIsNotUsed(_ code: Int32) throws {
        let parent = try TestFolder()
        let calls = FileCalls { step, _ in step == .lock ? code : nil }
        let error = #expect(throws: YapDatabaseError.self) {
            try MemoryFolder(in: parent.path, calls: calls)
        }
        #expect(error?.code == .cannotOpen)
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent.path).isEmpty)
    }

    @Test func aFolderInMemoryIsLockedAsLongAsItIsUsed() throws {
        let parent = try TestFolder()
        let folder = try MemoryFolder(in: parent.path)
        let other = try OpenFile(folder.path + "/lock", .updating)
        #expect(try !other.lock(waits: false))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["lock"])
        withExtendedLifetime(folder) {}
    }
}
