import SQLite

/// A relationship in a transaction that writes. Reads as in any transaction.
///
/// A method that throws fails the whole transaction, unless it throws `invalidExtension` for its argument.
public final class YapDatabaseRelationshipWriteTransaction: YapDatabaseRelationshipTransaction {
    /// Adds a manual edge, or sets the rules of the one that exists. It stays until `remove`, or until one of its ends
    /// is deleted.
    ///
    /// ```swift
    /// try transaction[owns].add(
    ///     YapDatabaseEdge(
    ///         "cover", from: book, to: .row("front", in: "images"), rules: .deleteDestinationIfSourceDeleted))
    /// ```
    ///
    /// - Parameter edge: The edge. Its ends may be written later in the transaction.
    /// - Throws: `invalidExtension` for an edge with a name or a file that is too long, or an end outside of
    ///   `collections`.
    public func add(_ edge: YapDatabaseEdge) throws {
        try transaction.check()
        try relationship.check(edge)
        try failing { try writer?.set(edge.manual, heardThrough: .max, isNew: true) }
    }

    /// Removes a manual edge.
    ///
    /// - Parameters:
    ///   - edge: The edge. Its rules don't matter: those of the stored edge count.
    ///   - reason: The rules that fire: none, or those for the deletion of one end, as if that end had been deleted.
    ///     Default: none.
    /// - Returns: False if the edge doesn't exist, or isn't a manual one.
    @discardableResult
    public func remove(_ edge: YapDatabaseEdge, as reason: YapDatabaseEdgeDeletionReason = .edgeDeleted)
        throws
        -> Bool
    {
        try transaction.check()
        return try failing { try writer?.removeManual(edge.manual, as: reason) ?? false }
    }

    /// Applies the rules now that otherwise fire at the end of the transaction's closure. Edges with a missing end are
    /// dropped.
    public func flush() throws {
        try transaction.check()
        try failing { try writer?.flush() }
    }

    /// Runs `body`. When it throws, the tables may be half changed: the transaction fails even if the app catches the
    /// error.
    private func failing<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            if transaction.failure == nil { transaction.failure = error }
            throw error
        }
    }
}

extension YapDatabaseReadWriteTransaction {
    /// A relationship in this transaction, with the methods that add and remove edges.
    ///
    /// - Throws: `YapDatabaseError` of code `extensionNotRegistered`: it isn't registered, or can't be read now.
    public subscript(relationship: YapDatabaseRelationship) -> YapDatabaseRelationshipWriteTransaction {
        get throws {
            let part = try ext(relationship.name, as: YapDatabaseRelationship.self)
            if let part = part as? YapDatabaseRelationshipWriteTransaction { return part }
            throw YapDatabaseError(
                .extensionNotRegistered, "\"\(relationship.name)\" isn't part of a transaction that writes")
        }
    }
}

extension YapDatabaseEdge {
    /// The edge as one that `add` gets.
    fileprivate var manual: YapDatabaseEdge {
        var edge = self
        edge.isManual = true
        return edge
    }
}

extension RelationshipWriter {
    /// Removes a manual edge and notes the rules that fire.
    fileprivate func removeManual(_ edge: YapDatabaseEdge, as reason: YapDatabaseEdgeDeletionReason) throws
        -> Bool
    {
        let rules = try tables.withStatement(sql.deleteManual, Array(edge.values.prefix(6))) { statement in
            let rules = try statement.step() ? statement.int64(at: 0) : nil
            // SQLite deletes before it returns the first row; this ends the statement.
            while try statement.step() {}
            return rules
        }
        guard let rules else { return false }
        note(edge)
        guard reason != .edgeDeleted else { return true }
        var values = edge.values
        values[6] = .integer(rules)
        try tables.run(sql.addPending, values + [.integer(reason.rawValue)])
        return true
    }
}
