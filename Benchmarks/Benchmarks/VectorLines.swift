import CBenchmarks
import Foundation
import System
import Yap

/// Queries on a vector index of the device's database, against C that reads the same blocks in a plain loop.
func vectorLines() -> [Line] {
    [
        Line(name: "yap.vector.keys", unit: "queries/s", bar: 0.7, roundsCount: 5) { try VectorRun(in: $0) }
    ]
}

/// Which 10 of 100,000 vectors of 384 dimensions are nearest.
private final class VectorRun: LineRun {
    private struct Passage: Codable, Sendable {
        var embedding: [Float]
    }

    private static let collection = "passages"
    private static let rowsCount = 100_000
    private static let rowsPerCommit = 10_000
    private static let dimensions = 384
    private static let queriesCount = 20
    private static let limit = 10
    /// The head of a block, and 42 rowids.
    private static let vectorsOffset = 8 + 42 * 8

    private let connection: YapDatabaseConnection
    private let index: YapDatabaseVectorIndex<Passage>
    private let reader: OpaquePointer
    private let queries: [[Float]]
    private let registrationSeconds: Double

    init(in folder: URL) throws {
        let random = SeededRandomSource(seed: 9)
        func vector() -> [Float] {
            (0..<Self.dimensions).map { _ in Float(random.nextUnitInterval()) - 0.5 }
        }
        let index = YapDatabaseVectorIndex(
            "byMeaning", of: Passage.self, in: Self.collection, version: "1", dimensions: Self.dimensions,
            distance: .cosine
        ) { $0.embedding }
        let database = try YapDatabase(url: folder.appendingPathComponent("ours.sqlite")) {
            $0.register(Passage.self, inCollection: Self.collection)
        }
        connection = database.newConnection()
        for start in stride(from: 0, to: Self.rowsCount, by: Self.rowsPerCommit) {
            try connection.blocking.readWrite { transaction in
                for number in start..<start + Self.rowsPerCommit {
                    try transaction.setObject(
                        Passage(embedding: vector()), forKey: "\(number)", inCollection: Self.collection)
                }
            }
        }
        registrationSeconds = 1 / (try rate(1) { try database.blocking.register(index) })
        queries = (0..<Self.queriesCount).map { _ in vector() }
        let sql = "SELECT content FROM \"vectorIndex_byMeaning\" ORDER BY id"
        guard let reader = vector_open(database.path, sql, Self.vectorsOffset, Self.dimensions) else {
            throw BenchError("the reference can't open \(database.path)")
        }
        (self.index, self.reader) = (index, reader)
        try checkReference()
    }

    /// Both find the same: the rows were written in the order of their keys, so a key is a place.
    private func checkReference() throws {
        let ours = try connection.blocking.read { transaction in
            try transaction[index].keys(nearest: queries[0], limit: Self.limit).map(\.key)
        }
        guard try places(queries[0]).map(String.init) == ours else {
            throw BenchError("the reference finds other vectors")
        }
    }

    private func places(_ query: [Float]) throws -> [Int64] {
        var places = [Int64](repeating: 0, count: Self.limit)
        var products = [Float](repeating: 0, count: Self.limit)
        guard vector_nearest(reader, query, Self.limit, &places, &products) == Int64(Self.limit) else {
            throw BenchError("the reference's search failed")
        }
        return places
    }

    func ours() throws -> Double {
        try rate(queries.count) {
            try connection.blocking.read { transaction in
                let index = try transaction[index]
                for query in queries { _ = try index.keys(nearest: query, limit: Self.limit) }
            }
        }
    }

    func reference() throws -> Double {
        try rate(queries.count) {
            for query in queries { _ = try places(query) }
        }
    }

    func remarks() -> [LineRemark] {
        let text = String(format: "filling it with %d rows took %.2f s", Self.rowsCount, registrationSeconds)
        return [LineRemark(text: text)]
    }

    func close() { vector_close(reader) }
}
