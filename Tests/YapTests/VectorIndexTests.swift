import SQLite
import System
import Testing

@testable import Yap

/// What the queries of a vector index find.
struct VectorIndexTests {
    private let stage: VectorStage
    private var connection: YapDatabaseConnection { stage.connection }

    init() throws {
        stage = try VectorStage()
        try stage.set([
            "a": [0, 0], "b": [3, 4], "c": [-6, 8], "d": nil, "e": [1, 0], "f": [0, 1], "g": [0, -1],
        ])
    }

    private func stage(_ distance: YapDatabaseVectorDistance) throws -> VectorStage {
        try VectorStage(VectorStage.index(distance: distance))
    }

    @Test func theNearestRowsComeFirstWithTheirDistances() throws {
        let rows = try stage.read { try $0.rows(nearest: [3, 3], limit: 3) }
        #expect(rows.map(\.key) == ["b", "e", "f"])
        #expect(rows.map(\.distance) == [1, 13, 13])
        #expect(rows.map(\.object.vector) == [[3, 4], [1, 0], [0, 1]])
        let keys = try stage.read { try $0.keys(nearest: [-6, 7], limit: 100) }
        #expect(keys.map(\.key) == ["c", "f", "a", "b", "e", "g"])
        #expect(keys.map(\.distance) == [1, 72, 85, 90, 98, 100])
        #expect(try stage.read { try $0.count() } == 6)
    }

    @Test func rowsOfEqualDistancesAreInTheOrderOfTheirRowids() throws {
        #expect(try stage.nearest([0, 0], 4) == ["a", "e", "f", "g"])
        #expect(try stage.nearest([0, 0], 3) == ["a", "e", "f"])
        // Its vector moves to another place, the rowid stays.
        try stage.remove("a")
        #expect(try stage.nearest([0, 0], 2) == ["e", "f"])
        try stage.set(["e": nil])
        try stage.set(["e": [1, 0]])
        #expect(try stage.nearest([0, 0], 2) == ["e", "f"])
    }

    @Test func aCosineIsOfTheAngleAlone() throws {
        let stage = try stage(.cosine)
        try stage.set([
            "a": [2, 0], "b": [1e-30, 1e-30], "c": [0, -5], "d": [-1e38, 0],
            "e": [.leastNonzeroMagnitude, 0],
        ])
        let keys = try stage.read { try $0.keys(nearest: [3e38, 0], limit: 9) }
        #expect(keys.map(\.key) == ["a", "e", "b", "c", "d"])
        #expect(keys[0].distance == 0 && keys[1].distance == 0 && keys[3].distance == 1)
        #expect(keys[4].distance == 2 && abs(keys[2].distance - (1 - Float(0.5).squareRoot())) < 1e-6)
        // Rounding never makes a distance negative.
        try stage.set(["f": [0.1, 0.7]])
        #expect(try stage.read { try $0.keys(nearest: [0.1, 0.7], limit: 1) }.first?.distance ?? -1 >= 0)
    }

    @Test func theGreatestProductIsTheNearest() throws {
        let stage = try stage(.dotProduct)
        try stage.set(["a": [1, 0], "b": [5, 5], "c": [0, 0], "d": [-2, 0]])
        let keys = try stage.read { try $0.keys(nearest: [2, 1], limit: 9) }
        #expect(keys.map(\.key) == ["b", "a", "c", "d"] && keys.map(\.distance) == [-15, -2, 0, 4])
    }

    @Test func aLimitADistanceAndKeysNarrowAQueryDown() throws {
        #expect(try stage.nearest([0, 0], 0) == [])
        #expect(try stage.nearest([0, 0], -1) == [])
        #expect(try stage.nearest([0, 0], PageIndex.limitMax).count == 6)
        let near = try stage.read { try $0.keys(nearest: [0, 0], limit: 9, distanceMax: 1).map(\.key) }
        #expect(near == ["a", "e", "f", "g"])
        #expect(try stage.read { try $0.rows(nearest: [0, 0], limit: 9, distanceMax: -1) }.isEmpty)
        #expect(try stage.nearest([0, 0], among: []) == [])
        #expect(try stage.nearest([0, 0], among: ["c", "b", "g", "b", "d", "none"]) == ["g", "b", "c"])
        #expect(try stage.nearest([0, 0], 1, among: ["c", "b"]) == ["b"])
        // Keys of another collection.
        try connection.blocking.readWrite { try $0.setObject("text", forKey: "x", inCollection: "notes") }
        #expect(try stage.nearest([0, 0], among: ["x", "a"]) == ["a"])
    }

    @Test func whatIsNoQueryIsAnError() throws {
        func failure(
            _ vector: [Float], _ limit: Int = 1, _ distanceMax: Float? = nil
        ) -> YapDatabaseError.Code? {
            code {
                _ = try stage.read { try $0.keys(nearest: vector, limit: limit, distanceMax: distanceMax) }
            }
        }
        for vector: [Float] in [
            [], [1], [1, 2, 3], [.nan, 1], [1, .infinity], [1, -.infinity], [1e19, 0],
        ] {
            #expect(failure(vector) == .invalidVector, "\(vector)")
        }
        #expect(failure([1, 2], PageIndex.limitMax + 1) == .invalidExtension)
        #expect(failure([1, 2], 1, .nan) == .invalidExtension)
        let cosine = try stage(.cosine)
        #expect(code { _ = try cosine.nearest([0, 0]) } == .invalidVector)
    }

    @Test func aVectorThatCannotBeComparedFailsTheWriteAndNamesItsKey() throws {
        func failure(_ vector: [Float], _ stage: VectorStage) -> YapDatabaseError? {
            do {
                try stage.set(["fine": [1, 1], "bad": vector])
                return nil
            } catch {
                return error as? YapDatabaseError
            }
        }
        for vector: [Float] in [[], [1, 2, 3], [.nan, 1], [1, .infinity], [4e18, 4e18]] {
            let error = failure(vector, stage)
            #expect(error?.code == .invalidVector && error?.key == "bad", "\(vector)")
            #expect(error?.collection == "pages" && error?.message.contains("vectors") ?? false)
        }
        #expect(try stage.nearest([1, 1], 1) == ["e"])
        #expect(try connection.blocking.read { try !$0.hasObject(forKey: "fine", inCollection: "pages") })
        #expect(failure([0, -0.0], try stage(.cosine))?.code == .invalidVector)
        #expect(failure([0, 0], stage) == nil)
        // The lengths at which distances stay finite.
        #expect(failure([0x1p62, 0], stage) == nil)
        try stage.set(["far": [-0x1p62, 0]])
        #expect(try stage.read { try $0.keys(nearest: [0x1p62, 0], limit: 99) }.last?.key == "far")
    }

    @Test func registeringNamesTheKeyOfAVectorThatCannotBeCompared() throws {
        try stage.set(["h": [5, 5]])
        let wrong = PageIndex(
            "wrong", of: Page.self, in: "pages", version: "1", dimensions: 2, distance: .dotProduct
        ) { page in page.vector.map { $0 == [5, 5] ? [.nan, 0] : $0 } }
        let error = #expect(throws: YapDatabaseError.self) { try stage.database.blocking.register(wrong) }
        #expect(error?.code == .invalidVector && error?.key == "h")
    }

    @Test func mistakesInADescriptionAreErrors() throws {
        for dimensions in [0, -1, PageIndex.dimensionsMax + 1, .max, .min] {
            let wrong = PageIndex(
                "wrong", of: Page.self, in: "pages", version: "1", dimensions: dimensions, distance: .cosine
            ) { $0.vector }
            #expect(code { try stage.database.blocking.register(wrong) } == .invalidExtension)
        }
        let other = PageIndex(
            "other", of: Page.self, in: "todos", version: "1", dimensions: 2, distance: .cosine
        ) { $0.vector }
        #expect(code { try stage.database.blocking.register(other) } == .typeMismatch)
        #expect(stage.database.registeredExtensionNames == ["vectors"])
    }

    @Test func theGreatestNumberOfDimensionsHasSeveralVectorsInABlock() throws {
        let dimensions = PageIndex.dimensionsMax
        let index = PageIndex(
            "large", of: Page.self, in: "large", version: "1", dimensions: dimensions, distance: .cosine
        ) { $0.vector }
        let layout = index.makeConnection(registeredName: "large").layout
        #expect(layout.slotsCount == 3 && layout.blockBytes <= VectorLayout.blockBytesMax)
        #expect(VectorLayout(dimensions: 384).slotsCount == 42)
        let folder = try TestFolder()
        let database = try folder.open { $0.register(Page.self, inCollection: "large") }
        try database.blocking.register(index)
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for number in 0..<5 {
                var vector = [Float](repeating: 1, count: dimensions)
                vector[dimensions - 1] = Float(number * 100)
                try transaction.setObject(Page(vector: vector), forKey: "\(number)", inCollection: "large")
            }
        }
        var query = [Float](repeating: 0, count: dimensions)
        query[dimensions - 1] = 1
        let keys = try connection.blocking.read { try $0[index].keys(nearest: query, limit: 4).map(\.key) }
        #expect(keys == ["4", "3", "2", "1"])
    }

    @Test func aCheckEndsAQueryBetweenItsSteps() throws {
        var checksCount = 0
        func countAndRefuse() throws {
            checksCount += 1
            if checksCount == 2 { throw Refused() }
        }
        #expect(throws: Refused.self) {
            try stage.read { try $0.keys(nearest: [0, 0], limit: 1, check: countAndRefuse) }
        }
        #expect(checksCount == 2)
        // Six vectors in blocks of three: one check for each block, and one for the keys.
        checksCount = 2
        _ = try stage.read { try $0.keys(nearest: [0, 0], limit: 1, check: countAndRefuse) }
        #expect(checksCount == 4)
        _ = try stage.read {
            try $0.rows(nearest: [0, 0], limit: 1, among: ["a", "g"], check: countAndRefuse)
        }
        #expect(checksCount == 7)
        checksCount = 1
        #expect(throws: Refused.self) {
            try stage.read { try $0.keys(nearest: [0, 0], limit: 1, among: ["a"], check: countAndRefuse) }
        }
    }

    @Test func aConnectionReadsTheNearestRows() async throws {
        let rows = try await connection.rows(nearest: [3, 3], in: stage.index, limit: 1)
        #expect(rows.map(\.key) == ["b"] && rows.map(\.distance) == [1])
        let some = try await connection.rows(
            nearest: [0, 0], in: stage.index, limit: 5, distanceMax: 50, among: ["b", "c"])
        #expect(some.map(\.key) == ["b"])
    }

    @MainActor @Test func aCancelledTaskEndsItsQuery() async throws {
        let (running, checksCount) = (Lock<Task<Int, any Error>?>(nil), Lock(0))
        let (connection, index) = (connection, stage.index)
        // It begins when this function waits.
        let task = Task { @MainActor in
            try await connection.rows(nearest: [0, 0], in: index, limit: 1, distanceMax: nil, among: nil) {
                checksCount.withLock { $0 += 1 }
                running.withLock { $0 }?.cancel()
            }.count
        }
        running.withLock { $0 = task }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(checksCount.withLock { $0 } == 1)
    }

    @Test func anIndexIsNotUsedAfterItsTransaction() throws {
        let ended = try connection.blocking.read { try $0[stage.index] }
        #expect(code { _ = try ended.count() } == .transactionEnded)
        #expect(code { _ = try ended.keys(nearest: [1, 1], limit: 1) } == .transactionEnded)
    }
}

/// The arithmetic of distances.
struct VectorKernelTests {
    @Test func eachNumberOfDimensionsIsSummedWhereverTheBytesLie() {
        for count in [1, 2, 3, 7, 15, 16, 17, 31, 32, 33, 48, 63, 64, 100] {
            let left = (0..<count).map { Float($0 % 7) - 3 }
            let right = (0..<count).map { Float($0 % 5) - 1 }
            let product = zip(left, right).reduce(0) { $0 + $1.0 * $1.1 }
            let squares = zip(left, right).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
            for offset in 0..<5 {
                let bytes = [UInt8](repeating: 0xFF, count: offset) + right.withUnsafeBytes { Array($0) }
                bytes.withUnsafeBytes { bytes in
                    let vector = UnsafeRawBufferPointer(rebasing: bytes[offset...])
                    func distance(_ distance: YapDatabaseVectorDistance) -> Float {
                        VectorKernel(distance: distance, query: left).distance(of: vector)
                    }
                    #expect(distance(.dotProduct) == -product)
                    #expect(distance(.squaredEuclidean) == squares)
                    #expect(distance(.cosine) == max(0, 1 - product))
                }
            }
        }
    }

    /// Bits of sums that are rounded: another order of the additions gives others.
    @Test func aDistanceHasTheSameBitsOnEachProcessor() {
        var state: UInt32 = 1
        func next() -> Float {
            state = state &* 1_664_525 &+ 1_013_904_223
            return Float(state >> 8) / Float(1 << 24) - 0.5
        }
        for _ in 0..<50 {
            let (query, vector) = ((0..<100).map { _ in next() }, (0..<100).map { _ in next() })
            var sums = [Float](repeating: 0, count: 16)
            for place in 0..<96 { sums[place % 16] += query[place] * vector[place] }
            var rest: Float = 0
            for place in 96..<100 { rest += query[place] * vector[place] }
            for half in [8, 4, 2, 1] {
                for place in 0..<half { sums[place] += sums[place + half] }
            }
            let expected = -(sums[0] + rest)
            let distance = vector.withUnsafeBytes {
                VectorKernel(distance: .dotProduct, query: query).distance(of: $0)
            }
            #expect(distance.bitPattern == expected.bitPattern)
        }
    }

    @Test func theNearestOfManyAreThoseThatASortHasFirst() {
        var state: UInt32 = 7
        let all = (0..<500).map { row in
            state = state &* 1_664_525 &+ 1_013_904_223
            return VectorMatch(distance: Float(state >> 27), rowID: Int64(row * 7 % 500))
        }
        for limit in [0, 1, 2, 10, 499, 500, 501] {
            for distanceMax in [Float.infinity, 10, -1] {
                var nearest = VectorNearest(limit: limit, distanceMax: distanceMax)
                for match in all { nearest.add(match) }
                #expect(
                    nearest.sorted == Array(all.filter { $0.distance <= distanceMax }.sorted().prefix(limit)))
            }
        }
    }
}
