import Foundation
import System
import Testing

@testable import CloudKit

/// A file that has its place counts as written, though its folder couldn't be synced.
@Suite struct FolderSyncTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    /// The system's calls, of which one step fails.
    private func calls(failing failed: FileStep) -> FileCalls {
        FileCalls { step, _ in step == failed ? EIO : nil }
    }

    private var names: [String] { (try? Folders.names(in: folder.path)) ?? [] }

    @Test(arguments: [true, false])
    func aPrivateFileInItsPlaceIsWrittenThoughItsFolderCannotBeSynced(replacing: Bool) throws {
        let file = PrivateFile(path: folder.path + "/secret", calls: calls(failing: .syncFolder))
        try file.write([1, 2, 3], replacing: replacing)
        #expect(try file.read()?.bytes == [1, 2, 3] && names == ["secret"])
    }

    @Test(arguments: [FileStep.open, .write, .sync, .rename])
    func aPrivateFileThatIsNotInItsPlaceIsAnErrorAndTheFormerOneStays(_ step: FileStep) throws {
        let path = folder.path + "/secret"
        try PrivateFile(path: path).write([1])
        let file = PrivateFile(path: path, calls: calls(failing: step))
        let error = #expect(throws: PrivateFile.Failure.self) { try file.write([2, 3]) }
        #expect(error?.message.contains("can't be written") == true)
        #expect(try file.read()?.bytes == [1] && names == ["secret"])
    }

    // MARK: Long-lived operations

    private let owner = OperationOwner(CloudCredential(webAuthToken: "t"))

    private func keep(_ store: LongLivedOperationStore, _ id: String) throws -> LongLivedRun {
        let header = OperationHeader(operationID: id, kind: "query", scope: 2, owner: owner, seed: 1)
        return try store.keep(header, archive: [1], files: [])
    }

    private func makeStore(failing step: FileStep? = nil) -> LongLivedOperationStore {
        var store = LongLivedOperationStore(folder: URL(fileURLWithPath: folder.path + "/shelf"))
        if let step { store.calls = calls(failing: step) }
        return store
    }

    @Test func anOperationInItsPlaceIsStoredAndRunsThoughTheFolderCannotBeSynced() throws {
        let id = SystemRandomSource().nextUUID()
        let store = makeStore(failing: .syncFolder)
        let run = try keep(store, id)
        #expect(run.header.operationID == id && store.operationIDs(of: owner) == [id])
        // It isn't begun a second time while it runs.
        guard case .follows = store.claim(id, of: owner, follower: { _ in }) else {
            Issue.record("it counts as not running")
            return
        }
        withExtendedLifetime(run) {}
    }

    @Test func anOperationThatCannotGetItsPlaceIsNotStored() throws {
        let id = SystemRandomSource().nextUUID()
        #expect(throws: FileError.self) { try keep(makeStore(failing: .rename), id) }
        let store = makeStore()
        #expect(store.operationIDs(of: owner).isEmpty)
        #expect(try Folders.names(in: store.folder).isEmpty)
        // Nothing is left that stands in the way of another try.
        let run = try keep(store, id)
        #expect(store.operationIDs(of: owner) == [id])
        withExtendedLifetime(run) {}
    }
}
