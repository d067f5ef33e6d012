import Foundation
import Testing

@testable import Yap

/// Files at the end of edges: deleted after the commit, and never without one.
@Suite struct RelationshipFileTests {
    private let folder: TestFolder
    private let files = MemoryFiles()

    init() throws { folder = try TestFolder() }

    private func stage() throws -> RelationshipStage {
        try RelationshipStage(
            YapDatabaseRelationship("graph", version: "1", fileDeletion: files.deletion), in: folder)
    }

    /// Waits for files that are being deleted.
    private func settle(_ stage: RelationshipStage) { stage.graph.files.work.wait() }

    @Test func edgesToFilesAreCountedAndFoundByTheFile() throws {
        let stage = try stage()
        try stage.write { transaction in
            try transaction.set(GraphNode(file: "one"), "a")
            #expect(try transaction[stage.graph].count() == 1)
            try transaction[stage.graph].add(
                YapDatabaseEdge("file", from: .node("a"), to: .file("two")))
            #expect(try transaction[stage.graph].count(named: "file", from: .node("a")) == 2)
        }
        try stage.read { transaction in
            let graph = try transaction[stage.graph]
            #expect(try graph.count() == 2 && graph.count(to: .file("one")) == 1)
            #expect(try graph.count(to: .row("one", in: "")) == 0)
            #expect(try graph.sources(of: .file("two")) == [.node("a")])
            #expect(try Set(graph.destinations(of: .node("a"))) == [.file("one"), .file("two")])
        }
    }

    @Test func aFileIsDeletedAfterTheCommitThatDeletesItsRow() throws {
        let stage = try stage()
        try stage.write { transaction in
            try transaction.set(GraphNode(file: "one"), "a")
            try transaction.set(GraphNode(file: "two", .notifyIfSourceDeleted), "b")
        }
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.remove(key) }
            try transaction[stage.graph].flush()
            #expect(files.deleted == [])
        }
        settle(stage)
        #expect(try files.deleted == ["one"] && stage.table("Files") == 0)
    }

    @Test func theFileOfAManualEdgeStaysWhenAPageRemovesAndMakesItsRowAgain() throws {
        let stage = try stage()
        try stage.registerSync()
        let file = YapDatabaseEdge(
            "by hand", from: .node("a"), to: .file("one"), rules: .deleteDestinationIfSourceDeleted)
        try stage.fetch { transaction in
            try transaction.set(GraphNode(), "a")
            try transaction[stage.graph].add(file)
        }
        try stage.fetch { transaction in
            try transaction.remove("a")
            try transaction.set(GraphNode(), "a")
        }
        settle(stage)
        #expect(try files.deleted == [] && stage.count() == 1)
        try stage.fetch { try $0.remove("a") }
        settle(stage)
        #expect(try files.deleted == ["one"] && stage.count() == 0)
    }

    @Test func aRollbackDeletesNoFile() throws {
        let stage = try stage()
        try stage.write { try $0.set(GraphNode(file: "one"), "a") }
        try stage.write { transaction in
            try transaction.remove("a")
            try transaction[stage.graph].flush()
            transaction.rollback()
        }
        try? stage.write { transaction in
            try transaction.remove("a")
            throw Refused()
        }
        try stage.write { transaction in
            try? transaction.savepoint {
                try transaction.remove("a")
                try transaction[stage.graph].flush()
                throw Refused()
            }
        }
        settle(stage)
        #expect(try files.deleted == [] && stage.table("Files") == 0 && stage.keys() == ["a"])
    }

    @Test func aFileThatCannotBeDeletedIsTriedAgainAtTheNextRegistration() throws {
        var stage = try stage()
        files.fail(true)
        try stage.write { transaction in
            for number in 0..<250 { try transaction.set(GraphNode(file: "f\(number)"), "\(number)") }
        }
        try stage.write { try $0.removeAllObjects(inCollection: "nodes") }
        settle(stage)
        #expect(try files.deleted == [] && stage.table("Files") == 250)
        files.fail(false)
        // A later commit goes on with its own file.
        try stage.write { try $0.set(GraphNode(file: "later"), "a") }
        try stage.write { try $0.remove("a") }
        settle(stage)
        #expect(try files.deleted == ["later"] && stage.table("Files") == 250)
        try stage.database.blocking.close()
        stage = try self.stage()
        settle(stage)
        #expect(try Set(files.deleted).count == 251 && stage.table("Files") == 0)
    }

    @Test func aFileStaysAsLongAsAnotherEdgeLeadsToIt() throws {
        let stage = try stage()
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(file: "one"), key) }
        }
        try stage.write { try $0.remove("a") }
        try stage.write { transaction in
            try transaction.remove("b")
            try transaction.set(GraphNode(file: "one"), "b")
        }
        settle(stage)
        #expect(files.deleted == [])
        // What is noted and not yet deleted is kept by a new edge.
        files.fail(true)
        try stage.write { try $0.remove("b") }
        settle(stage)
        #expect(try stage.table("Files") == 1)
        try stage.write { try $0.set(GraphNode(file: "one"), "c") }
        #expect(try stage.table("Files") == 0)
    }

    @Test func clearingAllCollectionsDeletesTheirFiles() throws {
        let stage = try stage()
        try stage.write { transaction in
            try transaction.set(GraphNode(file: "one"), "a")
            try transaction.set(GraphNode(file: "two", []), "b")
        }
        try stage.write { try $0.removeAllObjectsInAllCollections() }
        settle(stage)
        #expect(try files.deleted == ["one"] && stage.table() == 0)
    }

    @Test func theTextOfAFileIsChecked() throws {
        let stage = try stage()
        for text in ["", "a\0b", String(repeating: "x", count: 4_097)] {
            #expect(code { try stage.write { try $0.set(GraphNode(file: text), "a") } } == .invalidExtension)
        }
        #expect(try stage.keys() == [])
    }

    @Test func filesAreDeletedByAbsolutePathsOrInOneFolder() throws {
        let path = folder.path + "/photo"
        let inFolder = YapDatabaseFileDeletion.inFolder(folder.path)
        for (deletion, text) in [(.atPaths, path), (inFolder, "photo")] {
            #expect(FileManager.default.createFile(atPath: path, contents: nil))
            try deletion.delete(text)
            #expect(!FileManager.default.fileExists(atPath: path))
            // A missing file is no error.
            try deletion.delete(text)
        }
        #expect(throws: YapDatabaseError.self) { try YapDatabaseFileDeletion.atPaths.delete("photo") }
        #expect(throws: YapDatabaseError.self) { try YapDatabaseFileDeletion.atPaths.delete(folder.path) }
        for text in ["../photo", "..", ".", path, "a/b"] {
            #expect(throws: YapDatabaseError.self) { try inFolder.delete(text) }
        }
        #expect(FileManager.default.fileExists(atPath: folder.path))
    }
}
