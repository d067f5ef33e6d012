import SQLite

/// A relationship in a write transaction.
///
/// A method that throws fails the whole transaction, unless it throws `invalidExtension` for its argument.
public final class YapDatabaseRelationshipWriteTransaction: YapDatabaseRelationshipTransaction {
    /// Adds a manual edge, or sets the rules of the existing one. It is kept until `remove`, or until one of its ends
    /// is deleted.
    ///
    /// ```swift
    /// try transaction[owns].add(
    ///     YapDatabaseEdge(
    ///         "cover", from: book, to: .row("front", in: "images"), rules: .deleteDestinationIfSourceDeleted))
    /// ```
    ///
    /// - Parameter edge: The edge. Its ends may be written later in the transaction.
    /// - Throws: `invalidExtension` if a name or a file is too long, or an end is outside `collections`.
    public func add(_ edge: YapDatabaseEdge) throws {
        try transaction.check()
        try relationship.check(edge)
        try failing { try writer?.set(edge.manual, heardThrough: .max, isNew: true) }
    }

    /// Removes a manual edge.
    ///
    /// - Parameters:
    ///   - edge: The edge. Its rules are ignored; those of the stored edge are used.
    ///   - reason: The rules to apply: none, or those for the deletion of one end, as if that end had been deleted.
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

    /// Applies the rules now that otherwise run at the end of the transaction's closure. Edges with a missing end are
    /// dropped.
    public func flush() throws {
        try transaction.check()
        try failing { try writer?.flush() }
    }

    /// Runs `body`. If it throws, the tables may be half changed, so the transaction fails even if the app catches
    /// the error.
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
    /// Returns the transaction of a relationship, with the methods that add and remove edges.
    ///
    /// - Throws: `YapDatabaseError` with `extensionNotRegistered` if it isn't registered, or can't be read now.
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
    /// The edge in the form that `add` stores.
    fileprivate var manual: YapDatabaseEdge {
        var edge = self
        edge.isManual = true
        return edge
    }
}

extension RelationshipWriter {
    /// Removes a manual edge and records the rules to apply.
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
