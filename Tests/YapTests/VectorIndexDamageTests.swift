import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// A damaged index is an error, never a trap and never a part of a result.
struct VectorIndexDamageTests {
    private func stage() throws -> VectorStage {
        let stage = try VectorStage()
        try stage.set([
            "a": [1, 0], "b": [2, 0], "c": [3, 0], "d": [4, 0], "e": [5, 0], "f": [6, 0], "g": [7, 0],
        ])
        return stage
    }

    /// Damages the index by SQL, and returns the code of the error of a query.
    private func failure(
        _ sql: String, _ use: (VectorStage) throws -> Void
    ) throws -> YapDatabaseError.Code? {
        let stage = try stage()
        try stage.execute(sql)
        return code { try use(stage) }
    }

    private func query(_ stage: VectorStage) throws { _ = try stage.nearest([0, 0]) }

    @Test(
        arguments: [
            "content = x''", "content = x'00'", "content = substr(content, 1, 55)",
            "content = CAST(content || 'x' AS BLOB)", "content = zeroblob(100000)", "content = 5",
            "content = CAST(content AS TEXT)", "content = zeroblob(56)", "id = 7",
            // Heads of no used slot, of one too many, and of other dimensions.
            "content = CAST(x'0000000002000000' || substr(content, 9) AS BLOB)",
            "content = CAST(x'0400000002000000' || substr(content, 9) AS BLOB)",
            "content = CAST(x'FFFFFFFF02000000' || substr(content, 9) AS BLOB)",
            "content = CAST(x'0300000003000000' || substr(content, 9) AS BLOB)",
            // A block in the middle with fewer vectors.
            "content = CAST(x'0200000002000000' || substr(content, 9) AS BLOB)",
            // Components that aren't finite numbers.
            "content = CAST(substr(content, 1, 32) || x'0000C07F' || substr(content, 37) AS BLOB)",
            "content = CAST(substr(content, 1, 32) || x'0000807F' || substr(content, 37) AS BLOB)",
            // A slot of a row that doesn't exist.
            "content = CAST(substr(content, 1, 8) || x'FFFFFFFFFFFFFF7F' || substr(content, 17) AS BLOB)",
        ])
    func aDamagedBlockIsAnError(damage: String) throws {
        let sql = "UPDATE vectorIndex_vectors SET \(damage) WHERE id = 1"
        #expect(try failure(sql, query) == .corrupt)
    }

    @Test func missingBlocksAreAnError() throws {
        #expect(try failure("DELETE FROM vectorIndex_vectors WHERE id = 0", query) == .corrupt)
        #expect(try failure("DELETE FROM vectorIndex_vectors WHERE id = 1", query) == .corrupt)
        let last = "DELETE FROM vectorIndex_vectors WHERE id = 2"
        #expect(try failure(last) { _ = try $0.nearest([0, 0], among: ["g"]) } == .corrupt)
        #expect(try failure(last) { try $0.remove("g") } == .corrupt)
        #expect(try failure(last) { try $0.set(["g": [0, 0]]) } == .corrupt)
        for id in [-1, Int64.min, .max, .max / 3] {
            let sql = "UPDATE vectorIndex_vectors SET id = \(id) WHERE id = 2"
            #expect(try failure(sql) { _ = try $0.read { try $0.count() } } == .corrupt || id < 0)
            #expect(try failure(sql, query) == .corrupt)
            #expect(try failure(sql) { try $0.set(["h": [0, 0]]) } == .corrupt || id < 0)
        }
    }

    @Test(arguments: ["-1", "9223372036854775807", "'x'", "7", "6", "2", "x'00'", "1.5"])
    func aDamagedPlaceIsAnError(place: String) throws {
        // That of "b" is 1.
        let sql =
            "UPDATE vectorPlaces_vectors SET place = \(place) WHERE rowid = "
            + "(SELECT rowid FROM database2 WHERE key = 'b')"
        #expect(try failure(sql) { try $0.remove("b") } == .corrupt)
        #expect(try failure(sql) { try $0.set(["b": [0, 0]]) } == .corrupt)
        let isInside = ["6", "2"].contains(place)
        #expect(try failure(sql) { _ = try $0.nearest([0, 0], among: ["b"]) } == (isInside ? nil : .corrupt))
        // The whole index doesn't need it.
        #expect(try failure(sql, query) == nil)
    }

    @Test func aMissingPlaceOfTheLastVectorIsAnErrorWhenItMoves() throws {
        let sql = "DELETE FROM vectorPlaces_vectors WHERE place = 6"
        #expect(try failure(sql) { try $0.remove("a") } == .corrupt)
    }

    @Test func aDamagedIndexIsFilledAnewByAnotherVersion() throws {
        let stage = try stage()
        try stage.execute("UPDATE vectorIndex_vectors SET content = x''")
        try stage.database.blocking.close()
        let database = try VectorStage.open(stage.folder)
        let index = VectorStage.index(version: "2")
        try database.blocking.register(index)
        let keys = try database.newConnection().blocking.read {
            try $0[index].keys(nearest: [0, 0], limit: 3).map(\.key)
        }
        #expect(keys == ["a", "b", "c"])
    }

    @Test(arguments: TestSeed.values(count: 2))
    func bytesAtRandomInABlockEndInAResultOrAnError(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let stage = try stage()
        let sound: [[UInt8]] = try stage.connection.blocking.read { transaction in
            try transaction.sqlite.withStatement("SELECT content FROM vectorIndex_vectors ORDER BY id") {
                var blocks: [[UInt8]] = []
                while try $0.step() { blocks.append($0.bytes(at: 0)) }
                return blocks
            }
        }
        var errorsCount = 0
        for _ in 0..<150 {
            let id = random.next(in: 0..<sound.count)
            var block = sound[id]
            for _ in 0..<random.next(in: 1..<4) {
                block[random.next(in: 0..<block.count)] = [0, 0xFF, 0x7F, 0x80, 1][random.next(in: 0..<5)]
            }
            if random.next(in: 0..<5) == 0 { block.removeLast(random.next(in: 1..<block.count + 1)) }
            try stage.connection.blocking.readWrite { transaction in
                let sql = "UPDATE vectorIndex_vectors SET content = ?1 WHERE id = ?2"
                try transaction.sqlite.withStatement(sql) {
                    try $0.bind(block, at: 1)
                    try $0.bind(id, at: 2)
                    try $0.run()
                }
                func attempt(_ body: () throws -> Void) throws {
                    do {
                        try body()
                    } catch let error as YapDatabaseError {
                        #expect(error.code == .corrupt)
                        errorsCount += 1
                    }
                }
                let index = try transaction[stage.index]
                try attempt { _ = try index.keys(nearest: [1, 1], limit: 3) }
                try attempt { _ = try index.rows(nearest: [1, 1], limit: 3, among: ["a", "d", "g"]) }
                try attempt { _ = try index.count() }
                try attempt { try transaction.savepoint { try transaction.setVector([0, 1], "b") } }
                try attempt {
                    try transaction.savepoint {
                        try transaction.removeObject(forKey: "a", inCollection: "pages")
                    }
                }
                try attempt { try transaction.savepoint { try transaction.setVector([0, 2], "new") } }
                transaction.rollback()
            }
        }
        #expect(errorsCount > 100)
        #expect(try stage.nearest([0, 0], 2) == ["a", "b"])
    }
}
