/// Chooses the vectors that a search compares with its query. An approximate index would be another kind of
/// candidates: it would choose the places of a few vectors with its own tables, without a change of blocks, distances
/// and results.
protocol VectorCandidates {
    /// Returns the places of the candidates in ascending order, each once. Nil for all vectors.
    ///
    /// - Parameters:
    ///   - table: The vectors.
    ///   - check: Called between steps. It throws to end the search.
    func places(_ table: VectorTable, _ check: () throws -> Void) throws -> [Int]?
}

/// All vectors: the search is exact.
struct AllVectors: VectorCandidates {
    func places(_ table: VectorTable, _ check: () throws -> Void) throws -> [Int]? { nil }
}

/// The vectors of rows with given keys. Keys without a row or a vector are ignored.
struct VectorsOfKeys: VectorCandidates {
    private static let keysPerCheck = 500

    let keys: [String]

    func places(_ table: VectorTable, _ check: () throws -> Void) throws -> [Int]? {
        var places: [Int] = []
        for (number, key) in keys.enumerated() {
            if number % Self.keysPerCheck == 0 { try check() }
            if let place = try table.place(ofKey: key) { places.append(place) }
        }
        places.sort()
        var last = -1
        return places.filter { place in
            defer { last = place }
            return place != last
        }
    }
}
