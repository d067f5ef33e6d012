import SQLite

/// Something that a relationship passed over, because the rows came from the sync or were missed.
///
/// What fails a write of the app can't fail a page of the sync, which would come again and again.
public struct YapDatabaseRelationshipProblem: Hashable, Sendable {
    /// Maximum number of problems that are kept.
    static let countMax = 100
    static let messageCharactersMax = 1_000

    /// The row whose edge was left out, or whose rule wasn't applied. An empty collection for a file that can't be
    /// deleted, whose text is the key.
    public let row: YapCollectionKey
    /// What was passed over and why.
    public let message: String
}

extension YapDatabaseRelationshipTransaction {
    /// What was passed over, the newest first: up to 100 problems.
    ///
    /// ```swift
    /// for problem in try transaction[library].problems() { print(problem.row.key, problem.message) }
    /// ```
    ///
    /// An edge that can't be stored is left out, and so are edges of an object beyond 100,000. A rule that throws is
    /// not applied. An object that can't be decoded is not notified. A file that can't be deleted is given up in the
    /// end.
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
    /// Forgets the problems that were noted.
    public func removeProblems() throws {
        try transaction.check()
        try tables.run(sql.deleteProblems)
        writer?.noteAll()
    }
}

extension RelationshipWriter {
    /// Keeps a problem, and of all the newest.
    func noteProblem(at row: YapCollectionKey, _ error: any Error) throws {
        let message = String("\(error)".prefix(YapDatabaseRelationshipProblem.messageCharactersMax))
        try tables.run(sql.addProblem, [.text(row.collection), .text(row.key), .text(message)])
        try tables.run(sql.trimProblems, [.integer(Int64(YapDatabaseRelationshipProblem.countMax))])
        noteAll()
    }
}
