/// Chooses the vectors that a search compares with its query. An approximate index is another kind of candidates: it
/// chooses the places of a few vectors by tables of its own, and blocks, distances and results stay as they are.
protocol VectorCandidates {
    /// Returns the places of the candidates in ascending order, each once; nil for all vectors.
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

/// The vectors of rows with given keys. Keys of no row, or of one without a vector, are passed over.
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
