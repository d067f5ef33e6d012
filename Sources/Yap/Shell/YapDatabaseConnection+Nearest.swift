import Seams

extension YapDatabaseConnection {
    /// Returns the rows whose vectors are nearest to a vector, in a read of its own. If the task is cancelled, the
    /// query ends before its next step.
    ///
    /// ```swift
    /// let near = try await connection.rows(nearest: vector, in: byMeaning, limit: 20)
    /// ```
    ///
    /// - Parameters:
    ///   - vector: The vector, of as many components as the index has dimensions.
    ///   - index: The index.
    ///   - limit: Maximum number of rows, up to 10,000.
    ///   - distanceMax: Maximum distance of a row. Default: any distance.
    ///   - keys: Keys of the rows to choose from. Default: all rows of the index.
    /// - Throws: `CancellationError`; as `read` and `YapDatabaseVectorIndexTransaction.rows(nearest:)`.
    public func rows<Object: Sendable>(
        nearest vector: [Float], in index: YapDatabaseVectorIndex<Object>, limit: Int,
        distanceMax: Float? = nil, among keys: [String]? = nil
    ) async throws -> [(key: String, object: Object, distance: Float)] {
        try await rows(nearest: vector, in: index, limit: limit, distanceMax: distanceMax, among: keys) {}
    }

    /// The same, where `willCheck` is called before each check whether the task is cancelled.
    func rows<Object: Sendable>(
        nearest vector: [Float], in index: YapDatabaseVectorIndex<Object>, limit: Int, distanceMax: Float?,
        among keys: [String]?, willCheck: @escaping @Sendable () -> Void
    ) async throws -> [(key: String, object: Object, distance: Float)] {
        let isCancelled = Lock(false)
        return try await withTaskCancellationHandler {
            try await read { transaction in
                try transaction[index].rows(
                    nearest: vector, limit: limit, distanceMax: distanceMax, among: keys
                ) {
                    willCheck()
                    if isCancelled.withLock({ $0 }) { throw CancellationError() }
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}
