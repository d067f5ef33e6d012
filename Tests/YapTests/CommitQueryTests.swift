import Testing

@testable import Yap

/// What a commit, and a list of commits, answer to queries for changes.
struct CommitQueryTests {
    private let stage: TodoStage
    private var folder: TestFolder { stage.folder }
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try TodoStage(["a": "a", "b": "b", "c": "c"], metadata: Stamp(milliseconds: 1))
    }

    /// What is changed of row "a": the object, the metadata, or anything. Each form of query must say the same.
    private func answers(_ commit: YapDatabaseCommit) -> [Bool] {
        let (key, keys, todos) = ("a", ["a", "none"], "todos")
        let ofRow = [
            commit.hasObjectChange(forKey: key, inCollection: todos),
            commit.hasMetadataChange(forKey: key, inCollection: todos),
            commit.hasChange(forKey: key, inCollection: todos),
        ]
        let ofAnyRow = [
            commit.hasObjectChange(forAnyKeys: keys, inCollection: todos),
            commit.hasMetadataChange(forAnyKeys: keys, inCollection: todos),
            commit.hasChange(forAnyKeys: keys, inCollection: todos),
        ]
        let ofCollection = [
            commit.hasObjectChange(inCollection: todos), commit.hasMetadataChange(inCollection: todos),
            commit.hasChange(inCollection: todos),
        ]
        #expect(ofAnyRow == ofRow && ofCollection == ofRow)
        #expect(answers([commit]) == ofRow)
        return ofRow
    }

    private func answers(_ commits: [YapDatabaseCommit]) -> [Bool] {
        let (key, keys, todos) = ("a", ["a", "none"], "todos")
        let ofRow = [
            commits.hasObjectChange(forKey: key, inCollection: todos),
            commits.hasMetadataChange(forKey: key, inCollection: todos),
            commits.hasChange(forKey: key, inCollection: todos),
        ]
        let ofAnyRow = [
            commits.hasObjectChange(forAnyKeys: keys, inCollection: todos),
            commits.hasMetadataChange(forAnyKeys: keys, inCollection: todos),
            commits.hasChange(forAnyKeys: keys, inCollection: todos),
        ]
        let ofCollection = [
            commits.hasObjectChange(inCollection: todos), commits.hasMetadataChange(inCollection: todos),
            commits.hasChange(inCollection: todos),
        ]
        #expect(ofAnyRow == ofRow && ofCollection == ofRow)
        return ofRow
    }

    @Test func changesOfObjectsAndOfMetadataAreDistinguished() throws {
        typealias Write = (YapDatabaseReadWriteTransaction) throws -> Void
        let (todos, stamp) = ("todos", Stamp(milliseconds: 2))
        // Set: object and metadata, because setting an object clears the metadata.
        let writes: [(write: Write, object: Bool, metadata: Bool)] = [
            ({ try $0.set("x", "a") }, true, true),
            (
                { try $0.setObject(Todo(title: "x"), metadata: stamp, forKey: "a", inCollection: todos) },
                true, true
            ),
            ({ try $0.replaceObject(Todo(title: "y"), forKey: "a", inCollection: todos) }, true, false),
            ({ try $0.replaceMetadata(stamp, forKey: "a", inCollection: todos) }, false, true),
            ({ try $0.replaceMetadata(Stamp?.none, forKey: "a", inCollection: todos) }, false, true),
            ({ try $0.touchObject(forKey: "a", inCollection: todos) }, true, false),
            ({ try $0.touchMetadata(forKey: "a", inCollection: todos) }, false, true),
            ({ try $0.touchRow(forKey: "a", inCollection: todos) }, true, true),
            ({ try $0.removeObject(forKey: "a", inCollection: todos) }, true, true),
            ({ try $0.set("new", "a") }, true, true),
            ({ try $0.removeAllObjects(inCollection: todos) }, true, true),
            ({ try $0.removeAllObjectsInAllCollections() }, true, true),
            ({ try $0.setObject("x", forKey: "a", inCollection: "notes") }, false, false),
        ]
        for (place, (write, object, metadata)) in writes.enumerated() {
            let commit = try database.commit(write)
            #expect(answers(commit) == [object, metadata, object || metadata], "write \(place)")
            let hasOther =
                commit.hasObjectChange(inCollection: "other")
                || commit.hasMetadataChange(inCollection: "other")
            #expect(hasOther == commit.didClearAllCollections)
            #expect(!commit.hasChange(forAnyKeys: [], inCollection: todos))
        }
    }

    @Test func aRowThatChangedTwiceInACommitHasBothChanges() throws {
        let commit = try database.commit {
            try $0.touchObject(forKey: "a", inCollection: "todos")
            try $0.replaceMetadata(Stamp(milliseconds: 3), forKey: "a", inCollection: "todos")
        }
        #expect(answers(commit) == [true, true, true])
    }

    @Test func keysOfUpdatedAndTouchedRowsAreDistinguishedByObjectAndMetadata() throws {
        let commit = try database.commit { transaction in
            try transaction.replaceObject(Todo(title: "x"), forKey: "a", inCollection: "todos")
            try transaction.replaceMetadata(Stamp(milliseconds: 2), forKey: "b", inCollection: "todos")
            try transaction.set("x", "c")
            try transaction.set("x", "d")
        }
        #expect(commit.updatedObjectKeys(inCollection: "todos") == ["a", "c"])
        #expect(commit.updatedMetadataKeys(inCollection: "todos") == ["b", "c"])
        #expect(commit.updatedKeys(inCollection: "todos") == ["a", "b", "c"])
        let touch = try database.commit { transaction in
            try transaction.touchObject(forKey: "a", inCollection: "todos")
            try transaction.touchMetadata(forKey: "b", inCollection: "todos")
            try transaction.touchRow(forKey: "c", inCollection: "todos")
        }
        #expect(touch.touchedObjectKeys(inCollection: "todos") == ["a", "c"])
        #expect(touch.touchedMetadataKeys(inCollection: "todos") == ["b", "c"])
        #expect(touch.touchedKeys(inCollection: "todos") == ["a", "b", "c"])
        #expect(touch.updatedKeys(inCollection: "todos").isEmpty)
    }

    @Test func whereChangesMayBeUnknownEachQueryIsTrue() throws {
        // Another instance's commit, as that of another process.
        let other = try folder.open()
        try other.newConnection().blocking.readWrite { try $0.set("x", "b") }
        let seen = CommitList()
        database.addInlineCommitObserver { seen.add($0) }
        try connection.blocking.read { _ in }
        let external = try #require(seen.commits.last)
        #expect(external.isExternal && answers(external) == [true, true, true])
        // More keys than a commit names.
        var options = YapDatabaseOptions()
        options.changedKeysPerCommitMax = 1
        let bounded = try folder.open(options)
        let many = try bounded.commit {
            for key in ["b", "c", "d"] { try $0.touchMetadata(forKey: key, inCollection: "todos") }
        }
        #expect(answers(many) == [true, true, true])
        // A gap.
        var late = try database.commit { try $0.touchMetadata(forKey: "b", inCollection: "todos") }
        #expect(!late.hasChange(forKey: "a", inCollection: "todos"))
        late.missedCommits = 1
        #expect(answers(late) == [true, true, true])
    }

    @Test func aListOfCommitsIsQueriedAsOne() throws {
        let commits = [
            try database.commit {
                try $0.replaceObject(Todo(title: "x"), forKey: "b", inCollection: "todos")
            },
            try database.commit { try $0.touchMetadata(forKey: "a", inCollection: "todos") },
            try database.commit { transaction in
                try transaction.removeObject(forKey: "b", inCollection: "todos")
                try transaction.setObject("x", forKey: "n", inCollection: "notes")
            },
        ]
        #expect(commits.hasObjectChange(forAnyKeys: ["a", "b"], inCollection: "todos"))
        #expect(!commits.hasObjectChange(forKey: "a", inCollection: "todos"))
        #expect(commits.hasMetadataChange(forKey: "a", inCollection: "todos"))
        #expect(!commits.hasChange(forAnyKeys: ["c"], inCollection: "todos"))
        #expect(commits.hasMetadataChange(inCollection: "notes") && !commits.hasChange(inCollection: "other"))
        #expect(commits.changedKeys(inCollection: "todos") == ["a", "b"])
        #expect(commits.changedCollections == ["notes", "todos"])
        #expect(
            commits.changedCollectionKeys.map { "\($0.collection) \($0.key)" }
                == ["notes n", "todos a", "todos b"])
        #expect(commits[2].changedCollectionKeys.map(\.key) == ["n", "b"])
        #expect(!commits.didClear(collection: "todos") && !commits.didClearAllCollections)
        #expect(!commits.isIncomplete(inCollection: "todos"))
        #expect(![YapDatabaseCommit]().hasChange(inCollection: "todos"))
    }

    @Test func aClearingInAListIsFound() throws {
        var commits = [try database.commit { try $0.removeAllObjects(inCollection: "todos") }]
        #expect(commits.didClear(collection: "todos") && !commits.didClear(collection: "notes"))
        #expect(commits.hasObjectChange(forKey: "a", inCollection: "todos"))
        try connection.blocking.readWrite { try $0.set("x", "z") }
        commits.append(try database.commit { try $0.removeAllObjectsInAllCollections() })
        #expect(commits.didClear(collection: "notes") && commits.didClearAllCollections)
        #expect(commits.hasMetadataChange(forAnyKeys: ["any"], inCollection: "any"))
    }
}
