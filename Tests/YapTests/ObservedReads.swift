import Testing

@testable import Yap

extension YapDatabaseConnection {
    /// What an observation of `query` depends on.
    func dependencies(_ query: (YapDatabaseReadTransaction) throws -> Void) throws -> ReadDependencies {
        try #require(try readNow(tracksReads: true, query).reads)
    }

    /// Whether a commit of `write` counts for an observation of `query`.
    func isObserved(
        _ query: (YapDatabaseReadTransaction) throws -> Void,
        whenWriting write: (YapDatabaseReadWriteTransaction) throws -> Void
    ) throws -> Bool {
        try dependencies(query).areChanged(by: database.commit(write))
    }
}

extension YapDatabase {
    func commit(_ write: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> YapDatabaseCommit {
        try lastCommit { try newConnection().blocking.readWrite(write) }
    }

    /// The last commit that `body` makes.
    func lastCommit(_ body: () throws -> Void) throws -> YapDatabaseCommit {
        let seen = CommitList()
        let id = addInlineCommitObserver { seen.add($0) }
        defer { removeCommitObserver(id) }
        try body()
        return try #require(seen.commits.last)
    }
}
