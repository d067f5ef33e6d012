import System
import TestSeed
import Testing

@testable import Yap

/// Writes and queries at random, compared with a plain search of all vectors.
struct VectorIndexAtRandomTests {
    private typealias Found = [(key: String, distance: Float)]

    /// Whole numbers, whose products and squares have no rounding.
    private static func vector(_ random: SeededRandomSource, _ dimensions: Int) -> [Float] {
        let vector = (0..<dimensions).map { _ in Float(random.next(in: -4..<5)) }
        return vector.allSatisfy { $0 == 0 } ? [1] + vector.dropFirst() : vector
    }

    /// The distance by its definition.
    private static func distance(
        _ left: [Float], _ right: [Float], _ distance: YapDatabaseVectorDistance
    ) -> Double {
        func product(_ left: [Float], _ right: [Float]) -> Double {
            zip(left, right).reduce(0) { $0 + Double($1.0) * Double($1.1) }
        }
        switch distance {
        case .dotProduct: return -product(left, right)
        case .squaredEuclidean:
            return zip(left, right).reduce(0) { $0 + Double($1.0 - $1.1) * Double($1.0 - $1.1) }
        case .cosine:
            return 1 - product(left, right) / (product(left, left) * product(right, right)).squareRoot()
        }
    }

    /// Writes some rows, of which a savepoint or the whole transaction undoes some.
    private func change(
        _ stage: VectorStage, _ vectors: inout [String: [Float]], _ random: SeededRandomSource
    ) throws {
        var after = vectors
        let isUndone = random.next(in: 0..<8) == 0
        try stage.connection.blocking.readWrite { transaction in
            if random.next(in: 0..<12) == 0 {
                try transaction.removeAllObjects(inCollection: "pages")
                after = [:]
            }
            for _ in 0..<random.next(in: 1..<30) {
                let key = "\(random.next(in: 0..<40))"
                let choice = random.next(in: 0..<10)
                let vector = choice < 7 ? Self.vector(random, stage.index.dimensions) : nil
                let isUndone = random.next(in: 0..<6) == 0
                try? transaction.savepoint { () throws in
                    if choice == 9 {
                        try transaction.removeObject(forKey: key, inCollection: "pages")
                    } else {
                        try transaction.setVector(vector, key)
                    }
                    if isUndone { throw Refused() }
                }
                if !isUndone { after[key] = vector }
            }
            if isUndone { transaction.rollback() }
        }
        if !isUndone { vectors = after }
    }

    /// What is wrong with a result, in words.
    private func differences(
        _ found: Found, _ expected: Found, isExact: Bool, _ distances: [String: Double]
    ) -> String? {
        if isExact { return found.elementsEqual(expected, by: ==) ? nil : "\(found), not \(expected)" }
        // Rounded distances may order two rows that are equally far in another way.
        guard found.count == expected.count, Set(found.map(\.key)).count == found.count,
            zip(found, found.dropFirst()).allSatisfy({ $0.distance <= $1.distance }),
            zip(found, expected).allSatisfy({ abs($0.distance - $1.distance) < 1e-5 }),
            found.allSatisfy({ abs(Double($0.distance) - (distances[$0.key] ?? .infinity)) < 1e-5 })
        else { return "\(found), about \(expected)" }
        return nil
    }

    @Test(arguments: TestSeed.values(count: 2), [1, 3, 16, 21])
    func theNearestRowsAreThoseThatASortHasFirst(seed: UInt64, dimensions: Int) throws {
        let kinds: [YapDatabaseVectorDistance] = [.cosine, .dotProduct, .squaredEuclidean]
        for (number, kind) in kinds.enumerated() {
            let random = SeededRandomSource(seed: seed &+ UInt64(number) &* 1_000)
            let slotsCount = random.next(in: 1..<6)
            let stage = try VectorStage(
                VectorStage.index(dimensions: dimensions, distance: kind, slotsCount: slotsCount))
            var vectors: [String: [Float]] = [:]
            for step in 0..<8 {
                try change(stage, &vectors, random)
                #expect(try stage.read { try $0.count() } == vectors.count)
                for _ in 0..<6 {
                    try query(stage, vectors, random, "seed \(seed), \(kind), step \(step)")
                }
            }
        }
    }

    private func query(
        _ stage: VectorStage, _ vectors: [String: [Float]], _ random: SeededRandomSource, _ place: String
    ) throws {
        let kind = stage.index.distance
        let vector = Self.vector(random, stage.index.dimensions)
        let limit = random.next(in: 0..<20)
        let keys: [String]? =
            random.next(in: 0..<3) == 0
            ? (0..<random.next(in: 0..<30)).map { _ in "\(random.next(in: 0..<45))" } : nil
        let some = keys.map { keys in vectors.filter { keys.contains($0.key) } } ?? vectors
        let distances = some.mapValues { Self.distance(vector, $0, kind) }
        // Between the distances of a rounded cosine.
        let distanceMax: Float? =
            random.next(in: 0..<3) == 0
            ? Float(random.next(in: -20..<60)) + (kind == .cosine ? 0.01 : 0) : nil
        let rowIDs = try stage.connection.blocking.read { transaction in
            try some.keys.reduce(into: [:]) {
                $0[$1] = try transaction.rowID(forKey: $1, inCollection: "pages")
            }
        }
        let expected = distances.filter { row in distanceMax.map { row.value <= Double($0) } ?? true }
            .sorted { ($0.value, rowIDs[$0.key] ?? 0) < ($1.value, rowIDs[$1.key] ?? 0) }
            .prefix(limit).map { (key: $0.key, distance: Float($0.value)) }
        try stage.read { index in
            let found = try index.keys(nearest: vector, limit: limit, distanceMax: distanceMax, among: keys)
            let rows = try index.rows(nearest: vector, limit: limit, distanceMax: distanceMax, among: keys)
            let differences = differences(found, expected, isExact: kind != .cosine, distances)
            #expect(differences == nil, "\(place)")
            #expect(rows.map(\.key) == found.map(\.key), "\(place)")
            #expect(rows.allSatisfy { $0.object.vector == vectors[$0.key] }, "\(place)")
        }
    }
}
