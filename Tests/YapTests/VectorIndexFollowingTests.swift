import FoundationEssentials
import SQLite
import Testing

@testable import Yap

/// How a vector index follows the rows, and when its tables are made anew.
struct VectorIndexFollowingTests {
    private let stage: VectorStage
    private var database: YapDatabase { stage.database }
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try VectorStage()
        try stage.set(["a": [1, 0], "b": [2, 0], "c": [3, 0], "d": [4, 0], "e": nil])
    }

    private func all(_ transaction: YapDatabaseReadTransaction) throws -> [String] {
        try transaction[stage.index].keys(nearest: [0, 0], limit: 100).map(\.key)
    }

    private func blocks() throws -> Int {
        try connection.blocking.read { transaction in
            try transaction.sqlite.withStatement("SELECT count(*) FROM vectorIndex_vectors") {
                try $0.step() ? Int($0.int64(at: 0)) : -1
            }
        }
    }

    @Test func eachWriteIsFollowedInTheSameTransaction() throws {
        try connection.blocking.readWrite { transaction in
            #expect(try all(transaction) == ["a", "b", "c", "d"])
            try transaction.setVector([0, 0], "f")
            try transaction.replaceObject(Page(vector: [9, 0]), forKey: "a", inCollection: "pages")
            try transaction.setVector([2.5, 0], "e")
            try transaction.setVector(nil, "c")
            #expect(try all(transaction) == ["f", "b", "e", "d", "a"])
            try transaction.removeObject(forKey: "f", inCollection: "pages")
            try transaction.removeObject(forKey: "b", inCollection: "pages")
            #expect(try all(transaction) == ["e", "d", "a"])
            #expect(try transaction[stage.index].count() == 3)
        }
        #expect(try connection.blocking.read(all) == ["e", "d", "a"])
    }

    @Test func blocksGoWithTheLastOfTheirVectors() throws {
        #expect(try blocks() == 2)
        try stage.set(["e": [5, 0], "f": [6, 0], "g": [7, 0]])
        #expect(try blocks() == 3)
        try stage.remove("a")
        #expect(try blocks() == 2)
        try stage.remove("g", "b", "f")
        #expect(try connection.blocking.read(all) == ["c", "d", "e"] && blocks() == 1)
        try stage.remove("c", "d", "e")
        #expect(try connection.blocking.read(all) == [] && blocks() == 0)
        try stage.set(["a": [1, 0]])
        #expect(try connection.blocking.read(all) == ["a"] && blocks() == 1)
        try connection.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        #expect(try connection.blocking.read(all) == [] && blocks() == 0)
    }

    @Test func whatFailsLeavesNoTrace() throws {
        #expect(throws: Refused.self) {
            try connection.blocking.readWrite { transaction in
                try transaction.removeAllObjects(inCollection: "pages")
                #expect(try all(transaction) == [])
                throw Refused()
            }
        }
        #expect(try connection.blocking.read(all) == ["a", "b", "c", "d"])
        try connection.blocking.readWrite { transaction in
            try transaction.setVector([9, 0], "f")
            try? transaction.savepoint { () throws in
                try transaction.setVector([100, 0], "a")
                try transaction.removeAllObjectsInAllCollections()
                try transaction.setVector([5, 5], "g")
                #expect(try all(transaction) == ["g"])
                throw Refused()
            }
            #expect(try all(transaction) == ["a", "b", "c", "d", "f"])
            try transaction.removeObject(forKey: "b", inCollection: "pages")
        }
        #expect(try connection.blocking.read(all) == ["a", "c", "d", "f"])
        try connection.blocking.readWrite { transaction in
            try transaction.setVector([0, 0], "z")
            transaction.rollback()
        }
        #expect(try connection.blocking.read(all) == ["a", "c", "d", "f"])
    }

    @Test func aReadHasTheIndexOfItsSnapshot() throws {
        let other = database.newConnection()
        try connection.blocking.read { transaction in
            _ = try all(transaction)
            try other.blocking.readWrite { try $0.removeAllObjects(inCollection: "pages") }
            #expect(try all(transaction) == ["a", "b", "c", "d"])
        }
        #expect(try connection.blocking.read(all) == [])
    }

    @Test func anUpdateThatDoesNotChangeTheVectorWritesNothingIntoTheIndex() throws {
        func changes(_ vector: [Float]?, _ key: String) throws -> Bool {
            let commit = try database.commit { try $0.setVector(vector, key, title: "new") }
            return commit.changes(ofExtension: "vectors") != nil
        }
        #expect(try !changes([1, 0], "a"))
        #expect(try changes([1, 0.5], "a"))
        #expect(try changes([1, -0.5], "a"))
        #expect(try !changes(nil, "e"))
        #expect(try changes(nil, "a"))
        #expect(try changes([1, 0], "e"))
    }

    /// The log grows by the pages that a commit changes.
    @Test func aWriteOfOneVectorWritesAFewPagesAndNotItsBlock() throws {
        let index = PageIndex(
            "large", of: Page.self, in: "pages", version: "1", dimensions: 384, distance: .cosine
        ) { page in page.vector.map { [Float](repeating: 1, count: 383) + $0.prefix(1) } }
        try database.blocking.register(index)
        for number in 0..<100 { try stage.set(["\(number)": [Float(number), 0]]) }
        func loggedBytes(_ write: () throws -> Void) throws -> Int {
            func bytes() throws -> Int {
                let attributes = try FileManager.default.attributesOfItem(atPath: stage.folder.file + "-wal")
                return try #require(attributes[.size] as? Int)
            }
            let before = try bytes()
            try write()
            return try bytes() - before
        }
        // A page is 4 KiB: those of the row, of two indexes' slots and places, and of the snapshot.
        let bytesMax = 15 * 4_200
        #expect(bytesMax < index.makeConnection(registeredName: "large").layout.blockBytes)
        #expect(try loggedBytes { try stage.set(["50": [0.25, 0]]) } < bytesMax)
        #expect(try loggedBytes { try stage.set(["new": [0.25, 0]]) } < bytesMax)
        #expect(try loggedBytes { try stage.remove("20") } < 2 * bytesMax)
    }

    @Test func anIndexIsThereAfterAReopenAndIsFilledAnewForAnotherDescription() throws {
        // "d" is alone in its block, which is deleted behind the index's back.
        try stage.execute(
            "DELETE FROM vectorIndex_vectors WHERE id = 1; DELETE FROM vectorPlaces_vectors WHERE place = 3")
        try database.blocking.close()
        func nearest(
            _ index: PageIndex, _ vector: [Float] = [0, 0], _ write: [Float]? = nil
        ) throws -> [String] {
            let database = try VectorStage.open(stage.folder)
            defer { try? database.blocking.close() }
            if let write {
                try database.newConnection().blocking.readWrite { try $0.setVector(write, "late") }
            }
            try database.blocking.register(index)
            return try database.newConnection().blocking.read {
                try $0[index].keys(nearest: vector, limit: 9).map(\.key)
            }
        }
        #expect(try nearest(stage.index) == ["a", "b", "c"])
        #expect(try nearest(VectorStage.index(distance: .dotProduct), [1, 0]) == ["d", "c", "b", "a"])
        let one = PageIndex(
            "vectors", of: Page.self, in: "pages", version: "1", dimensions: 1, distance: .squaredEuclidean
        ) { page in page.vector.map { [$0[0]] } }
        #expect(try nearest(one, [3]) == ["c", "b", "d", "a"])
        let negative = PageIndex(
            "vectors", of: Page.self, in: "pages", version: "2", dimensions: 1, distance: .squaredEuclidean
        ) { page in page.vector.map { [-$0[0]] } }
        #expect(try nearest(negative, [3]) == ["a", "b", "c", "d"])
        // Rows were written without it.
        #expect(try nearest(negative, [3], [0, 0]) == ["late", "a", "b", "c", "d"])
    }

    @Test func anIndexCatchesUpWithRowsThatWereWrittenWithoutIt() throws {
        try database.blocking.close()
        let without = try VectorStage.open(stage.folder)
        try without.newConnection().blocking.readWrite { transaction in
            try transaction.setVector([8, 0], "b")
            try transaction.removeObject(forKey: "a", inCollection: "pages")
            try transaction.setVector([0, 0], "e")
            try transaction.setVector([9, 9], "f")
            try transaction.setVector(nil, "d")
        }
        try without.blocking.close()
        let again = try VectorStage.open(stage.folder)
        try again.blocking.register(stage.index)
        let reader = again.newConnection()
        #expect(try reader.blocking.read(all) == ["e", "c", "b", "f"])
        #expect(try reader.blocking.read { try $0[stage.index].count() } == 4)
    }

    @Test func twoInstancesShareTheIndex() throws {
        let other = try VectorStage.open(stage.folder)
        try other.blocking.register(stage.index)
        let second = other.newConnection()
        for number in 0..<12 {
            let writer = number % 2 == 0 ? connection : second
            try writer.blocking.readWrite { transaction in
                try transaction.setVector([0, Float(number)], "\(number % 5)")
                if number % 3 == 0 { try transaction.removeObject(forKey: "c", inCollection: "pages") }
                try transaction.setVector([3, Float(number)], "c")
            }
            let expected = try connection.blocking.read(all)
            #expect(try second.blocking.read(all) == expected && Set(expected).count == expected.count)
        }
        #expect(try connection.blocking.read { try $0[stage.index].count() } == 9)
    }

    @Test func anObservedQueryRunsAgainAfterEachChangeOfAVectorAlone() throws {
        func isObserved(
            _ query: (YapDatabaseVectorIndexTransaction<Page>) throws -> Void, _ vector: [Float]?,
            _ key: String
        ) throws -> Bool {
            try connection.isObserved {
                try query($0[stage.index])
            } whenWriting: {
                try $0.setVector(vector, key, title: "\(vector ?? [])")
            }
        }
        let keys = { (index: YapDatabaseVectorIndexTransaction<Page>) in
            _ = try index.keys(nearest: [0, 0], limit: 1)
        }
        let rows = { (index: YapDatabaseVectorIndexTransaction<Page>) in
            _ = try index.rows(nearest: [0, 0], limit: 1)
        }
        #expect(try isObserved(keys, [7, 7], "b"))
        #expect(try !isObserved(keys, [1, 0], "a"))
        #expect(try !isObserved(rows, [7, 7], "b"))
        #expect(try isObserved(rows, [1, 0], "a"))
        #expect(try isObserved({ _ = try $0.count() }, [1, 1], "e"))
        #expect(try !isObserved({ _ = try $0.count() }, nil, "f"))
        let other = try connection.isObserved {
            try keys($0[stage.index])
        } whenWriting: {
            try $0.setObject("text", forKey: "a", inCollection: "notes")
        }
        #expect(!other)
    }

    @Test func anUnregisteredIndexLeavesNoTable() throws {
        func tables() throws -> Int {
            try connection.blocking.read { transaction in
                let sql = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'vector%'"
                return try transaction.sqlite.withStatement(sql) { try $0.step() ? Int($0.int64(at: 0)) : -1 }
            }
        }
        #expect(try tables() == 2)
        try database.blocking.unregister("vectors")
        #expect(try tables() == 0)
        #expect(code { _ = try connection.blocking.read(all) } == .extensionNotRegistered)
        try database.blocking.register(stage.index)
        #expect(try connection.blocking.read(all) == ["a", "b", "c", "d"])
    }

    @Test(arguments: ["it's \"quoted\"", "a;b--", "ü 漢", "select", "100%_", "[x]"])
    func anyNameIsAName(name: String) throws {
        let index = VectorStage.index(name)
        try database.blocking.register(index)
        try stage.set(["e": [0, 0]])
        try stage.remove("a")
        let keys = try connection.blocking.read { try $0[index].keys(nearest: [0, 0], limit: 9).map(\.key) }
        #expect(keys == ["e", "b", "c", "d"])
        try database.blocking.unregister(name)
        try database.blocking.register(index)
        #expect(try connection.blocking.read { try $0[index].count() } == 4)
    }

    // MARK: Vectors that can't be compared

    @Test func aVectorThatCannotBeComparedDoesNotStopASync() throws {
        try connection.blocking.readWrite { transaction in
            try transaction.noteFetchedRows(ofExtension: "sync")
            try transaction.setVector([0, 0], "new")
            try transaction.setVector([1, 2, 3], "a")
            try transaction.setVector([.nan, 0], "other")
        }
        #expect(try connection.blocking.read(all) == ["new", "b", "c", "d"])
        // The app's own mistake is still one.
        #expect(code { try stage.set(["b": [1]]) } == .invalidVector)
        #expect(try connection.blocking.read(all) == ["new", "b", "c", "d"])
        // What a sync has brought doesn't keep the app from registering another version.
        try database.blocking.unregister("vectors")
        let next = VectorStage.index(version: "2")
        try database.blocking.register(next)
        let keys = try connection.blocking.read { try $0[next].keys(nearest: [0, 0], limit: 9).map(\.key) }
        #expect(keys == ["new", "b", "c", "d"])
    }

    @Test(arguments: [false, true]) func aMissedVectorThatCannotBeComparedLeavesTheIndexReadable(isOpen: Bool)
        throws
    {
        let other = try VectorStage.open(stage.folder)
        if !isOpen { try database.blocking.close() }
        try other.newConnection().blocking.readWrite { transaction in
            try transaction.setVector([1, 2, 3], "a")
            try transaction.setVector([0, 0], "e")
        }
        let again = isOpen ? database : try VectorStage.open(stage.folder)
        if !isOpen { try again.blocking.register(stage.index) }
        try again.newConnection().blocking.readWrite { try $0.setVector([9, 9], "f") }
        #expect(try again.newConnection().blocking.read(all) == ["e", "b", "c", "d", "f"])
    }
}
