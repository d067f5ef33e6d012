extension YapDatabaseConnection {
    /// Returns the rows with the vectors nearest to a vector, in a read of its own. If the task is cancelled, the
    /// query ends before its next step.
    ///
    /// ```swift
    /// let near = try await connection.rows(nearest: vector, in: byMeaning, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - vector: The vector, with as many components as the index has dimensions.
    ///   - index: The index.
    ///   - limit: Maximum number of rows, up to 10,000.
    ///   - distanceMax: Maximum distance of a row. Default: any distance.
    ///   - keys: Keys of the rows to choose from. Default: all rows of the index.
    /// - Returns: The rows, nearest first.
    /// - Throws: `CancellationError`; the errors of `read` and of `YapDatabaseVectorIndexTransaction.rows(nearest:)`.
    public func rows<Object: Sendable>(
        nearest vector: [Float], in index: YapDatabaseVectorIndex<Object>, limit: Int,
        distanceMax: Float? = nil, among keys: [String]? = nil
    ) async throws -> [(key: String, object: Object, distance: Float)] {
        try await rows(nearest: vector, in: index, limit: limit, distanceMax: distanceMax, among: keys) {}
    }

    /// Returns the rows with the vectors nearest to a vector, with their metadata.
    ///
    /// ```swift
    /// let near = try await connection.rows(metadata: NoteInfo.self, nearest: vector, in: byMeaning, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - type: The registered type of the collection's metadata. For the other parameters see
    ///     `rows(nearest:in:limit:)`.
    ///   - vector: The vector to compare with.
    ///   - index: The index to search.
    ///   - limit: Maximum number of rows, up to 10,000.
    ///   - distanceMax: Maximum distance of a row, or nil for any.
    ///   - keys: Keys of the rows to compare, or nil for all.
    /// - Throws: Also `YapDatabaseError`: `missingRegistration`, `typeMismatch`.
    public func rows<Object: Sendable, Metadata: Sendable>(
        metadata type: Metadata.Type, nearest vector: [Float], in index: YapDatabaseVectorIndex<Object>,
        limit: Int, distanceMax: Float? = nil, among keys: [String]? = nil
    ) async throws -> [(key: String, object: Object, metadata: Metadata?, distance: Float)] {
        try await readUntilCancelled { transaction, check in
            try transaction[index].rows(
                metadata: type, nearest: vector, limit: limit, distanceMax: distanceMax, among: keys,
                check: check)
        }
    }

    /// The first form, which also calls `willCheck` before each check for cancellation.
    func rows<Object: Sendable>(
        nearest vector: [Float], in index: YapDatabaseVectorIndex<Object>, limit: Int, distanceMax: Float?,
        among keys: [String]?, willCheck: @escaping @Sendable () -> Void
    ) async throws -> [(key: String, object: Object, distance: Float)] {
        try await readUntilCancelled { transaction, check in
            try transaction[index].rows(
                nearest: vector, limit: limit, distanceMax: distanceMax, among: keys
            ) {
                willCheck()
                try check()
            }
        }
    }

    /// Reads with a closure that throws `CancellationError` once the task is cancelled. The read itself follows the
    /// task too.
    private func readUntilCancelled<Result: Sendable>(
        _ body: @escaping @Sendable (YapDatabaseReadTransaction, () throws -> Void) throws -> Result
    ) async throws -> Result {
        try await read { transaction in try body(transaction) { try transaction.check() } }
    }
}
