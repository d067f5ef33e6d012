import Foundation
import System
import Testing

/// A file is written whole or stays as it was, whichever call fails.
@Suite(.serialized) final class DurableFileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "yap-durable-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var path: String { folder + "/file" }
    private var names: [String] { (try? Folders.names(in: folder)) ?? [] }
    private var content: String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Descriptors of this process that name something in the folder.
    private var openCount: Int {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return all.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0)
            return target?.hasPrefix(folder) ?? false
        }
    }

    /// Calls of which the one with this number fails.
    private final class Failing: Sendable {
        let steps = Lock<[FileStep]>([])
        let number: Int
        init(at number: Int) { self.number = number }

        var calls: FileCalls {
            FileCalls { step, _ in
                self.steps.withLock { steps in
                    steps.append(step)
                    return steps.count - 1 == self.number ? EIO : nil
                }
            }
        }

        var failedStep: FileStep? { steps.withLock { $0.count > number ? $0[number] : nil } }
    }

    /// Runs `body` with calls of which the first fails, then the second, and so on until none is left to fail.
    ///
    /// - Returns: The steps that failed.
    private func failEach(
        _ body: (_ calls: FileCalls) throws -> Void,
        then check: (_ step: FileStep, _ error: FileError?) -> Void
    ) throws -> [FileStep] {
        var failed: [FileStep] = []
        while true {
            let failing = Failing(at: failed.count)
            var error: FileError?
            do { try body(failing.calls) } catch let caught as FileError { error = caught }
            guard let step = failing.failedStep else {
                #expect(error == nil)
                return failed
            }
            failed.append(step)
            // Only what may fail unnoticed: a lock that the file system doesn't have, or a look at the draft.
            if let error { #expect(error.code == EIO && error.step == step) }
            #expect(openCount == 0, "\(step) leaks a descriptor")
            check(step, error)
        }
    }

    @Test func whicheverCallFailsAFileIsReplacedWholeOrNotAtAll() throws {
        let steps = try failEach { calls in
            try DurableFile.write(Array("old".utf8), to: path)
            try DurableFile.write(Array("new".utf8), to: path, calls: calls)
        } then: { step, error in
            // The folder is synced when the file has its place.
            let isInPlace = error == nil || error?.path == folder
            #expect(content == (isInPlace ? "new" : "old"), "\(step)")
            #expect(names == ["file"], "\(step) leaves a draft")
        }
        #expect(Set(steps).isSuperset(of: [.open, .write, .sync, .rename, .syncFolder]))
        #expect(content == "new" && names == ["file"])
    }

    @Test func whicheverCallFailsAFileIsCreatedWholeOrNotAtAll() throws {
        let steps = try failEach { calls in
            try? FileManager.default.removeItem(atPath: path)
            try DurableFile.write(Array("new".utf8), to: path, replacing: false, calls: calls)
        } then: { step, error in
            let isInPlace = error == nil || error?.path == folder
            #expect(content == (isInPlace ? "new" : nil), "\(step)")
            #expect(names == (isInPlace ? ["file"] : []), "\(step) leaves a draft")
        }
        #expect(Set(steps).isSuperset(of: [.open, .write, .sync, .link, .syncFolder]))
    }

    @Test func whicheverCallFailsACopyIsWholeOrIsNotThere() throws {
        let bytes = Data((0..<600_000).map { UInt8(truncatingIfNeeded: $0) })
        let target = folder + "/copy"
        let steps = try failEach { calls in
            try? FileManager.default.removeItem(atPath: target)
            try bytes.write(to: URL(fileURLWithPath: path))
            #expect(try DurableFile.copy(path, to: target, calls: calls))
        } then: { step, _ in
            #expect(names == ["file"], "\(step) leaves a copy")
        }
        #expect(Set(steps).isSuperset(of: [.open, .read, .write, .sync, .syncFolder]))
        #expect(FileManager.default.contents(atPath: target) == bytes)
        #expect(throws: FileError(.open, target, EEXIST)) { try DurableFile.copy(path, to: target) }
        #expect(throws: FileError(.open, folder, EISDIR)) { try DurableFile.copy(folder, to: target + "2") }
        #expect(throws: FileError(.open, target + "3", ENOENT)) {
            try DurableFile.copy(target + "3", to: target + "2")
        }
    }

    @Test func aFileThatMayNotExistIsNotReplaced() throws {
        try DurableFile.write(Array("old".utf8), to: path)
        #expect(throws: FileError(.link, path, EEXIST)) {
            try DurableFile.write(Array("new".utf8), to: path, replacing: false)
        }
        #expect(content == "old" && names == ["file"])
        #expect(try !DurableFile.createEmpty(path) && content == "old")
    }

    @Test func aFileSystemWithoutSecondNamesGetsTheFileByARename() throws {
        let calls = FileCalls { step, _ in step == .link ? EPERM : nil }
        try DurableFile.write(Array("new".utf8), to: path, replacing: false, calls: calls)
        #expect(content == "new" && names == ["file"])
        #expect(throws: FileError(.link, path, EPERM)) {
            try DurableFile.write(Array("newer".utf8), to: path, replacing: false, calls: calls)
        }
        #expect(content == "new" && names == ["file"])
    }

    @Test func aFileHasItsModeFromTheBeginning() throws {
        let draft = try DraftFile(path)
        #expect(try draft.file.status().st_mode & 0o777 == 0o600)
        try draft.commit()
        #expect(try OpenFile(path, .reading).status().st_mode & 0o777 == 0o600)
        #expect(try DurableFile.createEmpty(path + "2"))
        #expect(try OpenFile(path + "2", .reading).status().st_mode & 0o777 == 0o600)
    }

    @Test func abandonedDraftsAreRemoved() throws {
        for name in ["file.part-1", "file.part-1.2", "file.part-x", "file.part", "other.part-1"] {
            try Data().write(to: URL(fileURLWithPath: folder + "/" + name))
        }
        let first = try DraftFile(path)
        let second = try DraftFile(path)
        DraftFile.sweep(path)
        let kept = ["file.part", "file.part-x", "other.part-1"]
        let drafts = [first, second].map { $0.file.path.split(separator: "/").last.map(String.init) ?? "" }
        #expect(names == (kept + drafts).sorted() && drafts[0] != drafts[1])
        try first.write(Array("first".utf8))
        try second.write(Array("second".utf8))
        try second.commit()
        try first.commit()
        #expect(content == "first" && names == (kept + ["file"]).sorted())
    }

    @Test func aFileOfAUserThatIsNamedLikeADraftStays() throws {
        let kept = ["file.part-", "file.part-1", "file.part-1.2"]
        for name in kept { try Data("mine".utf8).write(to: URL(fileURLWithPath: folder + "/" + name)) }
        // In a user's folder only the file itself is written.
        try DurableFile.write(Array("new".utf8), to: path)
        let draft = try DraftFile(path)
        try draft.commit()
        #expect(names == ["file"] + kept)
        // A name without a process is no draft's, even in a folder of this package.
        DraftFile.sweep(path)
        #expect(names == ["file", "file.part-"])
    }

    /// Reports that a parent is missing, whatever exists, and fails in another way after many calls.
    private func lostParents(_ count: Lock<Int>) -> FileCalls {
        FileCalls { step, _ in
            guard step == .makeFolder else { return nil }
            return count.withLock { count in
                count += 1
                return count > 100 ? EIO : ENOENT
            }
        }
    }

    @Test(arguments: ["", "/proc/none", "/proc/none/below", "none/below"])
    func aFolderThatCannotExistIsAnErrorAfterOneTryForEachFolderAboveIt(_ path: String) {
        let count = Lock(0)
        let error = #expect(throws: FileError.self) { try Folders.make(path, calls: lostParents(count)) }
        #expect(error?.code == ENOENT && error?.step == .makeFolder, "\(String(describing: error))")
        #expect(count.withLock { $0 } < 10)
    }

    @Test func theSystemsOwnErrorForAFolderThatCannotExistIsReported() {
        #expect(throws: FileError(.makeFolder, "", ENOENT)) { try Folders.make("") }
        #expect(throws: FileError(.makeFolder, "/proc/none", ENOENT)) { try Folders.make("/proc/none/below") }
    }

    @Test func foldersAreMadeWithThoseAboveThem() throws {
        let deep = folder + "/a/b/c/"
        let steps = try failEach { calls in
            try? FileManager.default.removeItem(atPath: folder + "/a")
            try Folders.make(deep, calls: calls)
        } then: { _, _ in
        }
        #expect(steps.count(where: { $0 == .syncFolder }) == 3)
        #expect(try Folders.names(in: folder + "/a/b") == ["c"] && Folders.names(in: folder + "/none") == [])
        try Folders.make(deep)
        #expect(Folders.parent(of: "/a/b/") == "/a" && Folders.parent(of: "/a") == "/")
        #expect(Folders.parent(of: "a") == "." && Folders.parent(of: "a/b") == "a")
        Folders.remove(folder + "/a")
        #expect(names == [])
    }

    @Test func aFileThatTakesNothingMoreIsAFullDisk() {
        #expect(throws: FileError(.write, "/dev/full", ENOSPC)) {
            try OpenFile("/dev/full", .updating).write([1, 2, 3])
        }
        #expect(FileError(.write, path, ENOSPC).isDiskFull && !FileError(.write, path, EIO).isDiskFull)
    }

    @Test func aLockKeepsOthersOutUntilItsFileIsClosed() throws {
        var first: OpenFile? = try OpenFile(path, .updatingOrCreating)
        #expect(try first?.lock(.shared, waits: false) == true)
        let second = try OpenFile(path, .updating)
        #expect(try !second.lock(waits: false) && second.lock(.shared, waits: false))
        first = nil
        #expect(try second.lock(waits: false))
    }

    /// A child process that another thread starts at this moment has copies of all descriptors until its program runs.
    @Test func aLockEndsWithItsFileThoughAChildProcessHasACopyOfTheDescriptor() throws {
        for kind in [OpenFile.LockKind.exclusive, .shared] {
            var locked: OpenFile? = try OpenFile(path, .updatingOrCreating)
            #expect(try locked?.lock(kind, waits: false) == true)
            let copy = try dup(#require(locked?.descriptor))
            defer { close(copy) }
            let other = try OpenFile(path, .updating)
            #expect(try !other.lock(waits: false))
            locked = nil
            #expect(try other.lock(waits: false), "\(kind)")
        }
        var lock = FileLock(path)
        let copy = try dup(#require(lock?.file.descriptor))
        defer { close(copy) }
        #expect(FileLock.isLocked(path))
        lock = nil
        #expect(!FileLock.isLocked(path))
    }
}
