import SQLite

/// A vector index in one transaction.
///
/// Each call throws `YapDatabaseError`: `transactionEnded`, `corrupt` if the index is damaged, `decoding`, or an error
/// of the file.
public final class YapDatabaseVectorIndexTransaction<Object: Sendable>: YapDatabaseExtensionTransaction {
    /// A row that a query found, with the distance of its vector.
    public typealias Row = (key: String, object: Object, distance: Float)

    let connection: YapDatabaseVectorIndexConnection<Object>
    /// Retained until the transaction ends, which releases its extensions.
    let transaction: YapDatabaseReadTransaction
    let table: VectorTable
    /// True if this transaction has changed a vector.
    var hasChanged = false
    var index: YapDatabaseVectorIndex<Object> { connection.index }
    private let tables: YapDatabaseExtensionTables
    var sql: VectorSQL { connection.sql }

    init(
        _ connection: YapDatabaseVectorIndexConnection<Object>, _ transaction: YapDatabaseReadTransaction,
        _ tables: YapDatabaseExtensionTables
    ) {
        self.connection = connection
        self.transaction = transaction
        self.tables = tables
        table = VectorTable(
            tables: tables, sql: connection.sql, layout: connection.layout, name: connection.index.name,
            collection: connection.index.collection)
    }

    /// Returns the rows with the vectors nearest to a vector, nearest first. Rows of equal distances are in the order
    /// of their rowids, which is usually that of their insertion.
    ///
    /// ```swift
    /// let near = try transaction[byMeaning].rows(nearest: vector, limit: 20, distanceMax: 0.5)
    /// ```
    ///
    /// The cost grows with the number of vectors, or of `keys`. Use `check` to end a query that takes too long.
    ///
    /// - Parameters:
    ///   - vector: The vector, with as many components as the index has dimensions.
    ///   - limit: Maximum number of rows, up to 10,000.
    ///   - distanceMax: Maximum distance of a row. Default: any distance.
    ///   - keys: Keys of the rows to choose from, for example the result of another index or a search. Keys of rows
    ///     that aren't in the index are ignored. Default: all rows of the index.
    ///   - check: Called before each step, which reads up to 64 KiB of vectors or finds up to 500 keys. It throws to
    ///     end the query. Default: the query runs to its end.
    /// - Throws: Also `invalidVector` for a wrong number of components, a component that isn't finite, or a vector of
    ///   zeros with `.cosine`; `invalidExtension` for a limit above 10,000 and for a `distanceMax` that is NaN; the
    ///   error of `check`.
    public func rows(
        nearest vector: [Float], limit: Int, distanceMax: Float? = nil, among keys: [String]? = nil,
        check: () throws -> Void = {}
    ) throws -> [Row] {
        try visit(sql.row, nearest(vector, limit, distanceMax, keys, check)) { statement, distance in
            let (key, object) = try row(statement)
            return (key, object, distance)
        }
    }

    /// Returns the keys of the rows with the vectors nearest to a vector. No object is decoded. Parameters and
    /// errors: see `rows(nearest:)`.
    public func keys(
        nearest vector: [Float], limit: Int, distanceMax: Float? = nil, among keys: [String]? = nil,
        check: () throws -> Void = {}
    ) throws -> [(key: String, distance: Float)] {
        try visit(sql.key, nearest(vector, limit, distanceMax, keys, check)) { statement, distance in
            (statement.text(at: 1), distance)
        }
    }

    /// Returns the number of rows in the index.
    public func count() throws -> Int {
        try transaction.check()
        noteRead()
        return try table.count()
    }

    /// Visits the rows of the vectors that were found.
    ///
    /// - Parameter text: A statement that returns a row by its rowid, with the rowid and the key as the first
    ///   columns.
    func visit<Result>(
        _ text: String, _ matches: [VectorMatch],
        _ read: (_ row: borrowing Statement, _ distance: Float) throws -> Result
    ) throws -> [Result] {
        try matches.map { match in
            try tables.withStatement(text, [.integer(match.rowID)]) { statement in
                guard try statement.step() else { throw table.damaged("row \(match.rowID)") }
                return try read(statement, match.distance)
            }
        }
    }

    /// Returns the row from a statement with rowid, key and data as its first columns, and records the read.
    func row(_ statement: borrowing Statement) throws -> (key: String, object: Object) {
        let key = statement.text(at: 1)
        transaction.dependencies?.add(key: key, collection: index.collection)
        let object = try transaction.object(
            Object.self, key, inCollection: index.collection, rowID: statement.int64(at: 0), isKept: true
        ) { decode in try statement.withBytes(at: 2, decode) }
        return (key, object)
    }

    /// Finds the nearest vectors.
    func nearest(
        _ vector: [Float], _ limit: Int, _ distanceMax: Float?, _ keys: [String]?, _ check: () throws -> Void
    ) throws -> [VectorMatch] {
        try transaction.check()
        noteRead()
        let query = try index.prepared(vector)
        if limit > YapDatabaseVectorIndex<Object>.limitMax {
            throw mistake("the limit \(limit) is above \(YapDatabaseVectorIndex<Object>.limitMax)")
        }
        if let distanceMax, distanceMax.isNaN { throw mistake("distanceMax is no number") }
        if limit <= 0 { return [] }
        let candidates: any VectorCandidates =
            if let keys { VectorsOfKeys(keys: keys) } else { AllVectors() }
        var search = VectorSearch(
            table, VectorKernel(distance: index.distance, query: query), among: candidates,
            VectorNearest(limit: limit, distanceMax: distanceMax ?? .infinity))
        return try search.find(check)
    }

    private func noteRead() { tables.noteRead { $0 is VectorIndexChanges } }

    private func mistake(_ words: String) -> YapDatabaseError {
        YapDatabaseError(
            .invalidExtension, "the index \"\(index.name)\": \(words)", collection: index.collection)
    }
}
