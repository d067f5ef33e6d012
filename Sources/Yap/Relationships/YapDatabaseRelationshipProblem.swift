import SQLite

/// An edge or a rule that a relationship skipped, because the rows were fetched or missed.
///
/// Errors that fail a write of the app can't fail a page of the sync, which would be fetched again and again.
public struct YapDatabaseRelationshipProblem: Hashable, Sendable {
    /// Maximum problems kept.
    static let countMax = 100
    static let messageCharactersMax = 1_000

    /// The row of the skipped edge or rule. For a file that can't be deleted, the collection is empty and the key is
    /// the file's text.
    public let row: YapCollectionKey
    /// The skipped work and the reason.
    public let message: String
}

extension YapDatabaseRelationshipTransaction {
    /// Returns skipped edges and rules, newest first: up to 100 problems.
    ///
    /// ```swift
    /// for problem in try transaction[library].problems() { print(problem.row.key, problem.message) }
    /// ```
    ///
    /// An edge that can't be stored is skipped, and so are edges of an object beyond 100,000. A rule that throws
    /// isn't applied. An object that can't be decoded isn't notified. A file that can't be deleted is given up
    /// eventually.
    public final func problems() throws -> [YapDatabaseRelationshipProblem] {
        try transaction.check()
        tables.noteRead { _ in true }
        return try tables.withStatement(sql.newestProblems) { statement in
            var problems: [YapDatabaseRelationshipProblem] = []
            while try statement.step() {
                let row = YapCollectionKey(collection: statement.text(at: 0), key: statement.text(at: 1))
                problems.append(YapDatabaseRelationshipProblem(row: row, message: statement.text(at: 2)))
            }
            return problems
        }
    }
}

extension YapDatabaseRelationshipWriteTransaction {
    /// Deletes the recorded problems.
    public func removeProblems() throws {
        try transaction.check()
        try tables.run(sql.deleteProblems)
        writer?.noteAll()
    }
}

extension RelationshipWriter {
    /// Records a problem, and keeps the newest ones.
    func noteProblem(at row: YapCollectionKey, _ error: any Error) throws {
        let message = String("\(error)".prefix(YapDatabaseRelationshipProblem.messageCharactersMax))
        try tables.run(sql.addProblem, [.text(row.collection), .text(row.key), .text(message)])
        try tables.run(sql.trimProblems, [.integer(Int64(YapDatabaseRelationshipProblem.countMax))])
        noteAll()
    }
}
