import SQLite

/// Runs the queries of an index in one transaction.
struct IndexReader<Object: Sendable> {
    typealias Properties = YapDatabaseIndexProperties<Object>
    typealias Condition = YapDatabaseIndexCondition<Object>
    typealias Sort = YapDatabaseIndexSort<Object>
    typealias Row = (key: String, object: Object)

    let transaction: YapDatabaseReadTransaction
    let tables: YapDatabaseExtensionTables
    let table: IndexTable<Object>
    private var sql: SecondaryIndexSQL { table.sql }
    private var collection: String { table.description.collection }

    /// Returns a condition in SQL, and records that the result depends on the rows that it finds.
    ///
    /// - Parameter reads: Parts of these rows that are read.
    func filter(_ condition: ((Properties) -> Condition)?, reads: IndexReads = .columns) throws
        -> SecondaryIndexWhere
    {
        try transaction.check()
        let condition = condition?(Properties())
        try noteRead(reads) { try predicate(condition) }
        return try filter(condition)
    }

    /// Returns a condition in SQL.
    func filter(_ condition: Condition?) throws -> SecondaryIndexWhere {
        try SecondaryIndexWhere(condition, bounds: table.bounds) { sql.column(try place($0)) }
    }

    /// Returns a condition given in SQL, which may read anything of the rows.
    func filter(_ expression: String, _ values: [YapDatabaseColumnValue]) throws -> SecondaryIndexWhere {
        try transaction.begin(collection)
        return SecondaryIndexWhere(text: expression, values: values)
    }

    /// Returns a condition as a predicate with SQLite's semantics, or nil if it finds all rows.
    func predicate(_ condition: Condition?) throws -> SecondaryIndexPredicate? {
        try condition.map { try SecondaryIndexPredicate($0, place: place) }
    }

    /// Records, in an observation, that the result depends on the rows that `predicate` finds.
    func noteRead(_ reads: IndexReads, _ predicate: () throws -> SecondaryIndexPredicate?) throws {
        guard transaction.dependencies != nil else { return }
        // An index without metadata isn't notified of changes of it.
        if reads == .rows, !table.description.readsMetadata { try transaction.begin(collection) }
        let predicate = try predicate()
        tables.noteRead { changes in
            (changes as? SecondaryIndexChanges)?.mayChange(predicate, reads: reads) ?? true
        }
    }

    func place(_ path: IndexColumnPath) throws -> Int {
        if let place = table.description.columns.firstIndex(where: { $0.path == path }) { return place }
        throw YapDatabaseError(
            .invalidExtension,
            "the index \"\(table.description.name)\" has no column for \(path): add the property to it",
            collection: collection)
    }

    func column(_ path: IndexColumnPath) throws -> String { sql.column(try place(path)) }

    private func order(_ sort: [Sort]) throws -> String {
        guard !sort.isEmpty else { return "" }
        let terms = try sort.map { "\(try column($0.path))\($0.order == .descending ? " DESC" : "")" }
        return " ORDER BY " + terms.joined(separator: ", ")
    }

    func rows(_ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int) throws -> [Row] {
        try visit("d.rowid, d.key, d.data", filter, sort, limit, offset) { statement in
            try row(statement, isKept: limit != nil)
        }
    }

    /// Returns the row from a statement with rowid, key and data as its first columns.
    ///
    /// - Parameter isKept: Whether the object is cached.
    func row(_ statement: borrowing Statement, isKept: Bool) throws -> Row {
        let key = statement.text(at: 1)
        let object = try transaction.object(
            Object.self, key, inCollection: collection, rowID: statement.int64(at: 0), isKept: isKept
        ) { decode in try statement.withBytes(at: 2, decode) }
        return (key, object)
    }

    func rows<Metadata: Sendable>(
        _ type: Metadata.Type, _ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int
    ) throws -> [(key: String, object: Object, metadata: Metadata?)] {
        try visit("d.rowid, d.key, d.data, d.metadata", filter, sort, limit, offset) { statement in
            let (key, object) = try row(statement, isKept: limit != nil)
            return (key, object, try metadata(type, statement, column: 3, isKept: limit != nil))
        }
    }

    func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int
    ) throws -> [(key: String, metadata: Metadata?)] {
        try visit("d.rowid, d.key, d.metadata", filter, sort, limit, offset) { statement in
            (statement.text(at: 1), try metadata(type, statement, column: 2, isKept: limit != nil))
        }
    }

    /// Returns the metadata of a row, from a statement with rowid and key as its first columns.
    private func metadata<Metadata: Sendable>(
        _ type: Metadata.Type, _ statement: borrowing Statement, column: Int32, isKept: Bool
    ) throws -> Metadata? {
        try transaction.metadata(
            type, statement.text(at: 1), inCollection: collection, statement, column: column,
            keptRowID: isKept ? statement.int64(at: 0) : nil)
    }

    func keys(_ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int) throws -> [String]
    {
        try visit("d.key", filter, sort, limit, offset) { $0.text(at: 0) }
    }

    func count(_ filter: SecondaryIndexWhere) throws -> Int {
        Int(columnValue: try value("count(*)", filter)) ?? 0
    }

    private func visit<Result>(
        _ wanted: String, _ filter: SecondaryIndexWhere, _ sort: [Sort], _ limit: Int?, _ offset: Int,
        _ read: (borrowing Statement) throws -> Result
    ) throws -> [Result] {
        var filter = filter
        var text = "SELECT \(wanted)\(sql.fromWithRows)\(filter.text)\(try order(sort))"
        if limit != nil || offset > 0 {
            // A negative limit means no limit to SQLite. Named parameters are numbered after those of the condition,
            // including those for which the caller passed no value.
            text += " LIMIT :yap_limit OFFSET :yap_offset"
            filter.add(values: [
                .integer(Int64(limit.map { max(0, $0) } ?? -1)), .integer(Int64(max(0, offset))),
            ])
        }
        return try query(text, filter) { statement in
            var results: [Result] = []
            while try statement.step() { results.append(try read(statement)) }
            return results
        }
    }

    func aggregate<Value: YapDatabaseColumnConvertible>(
        _ function: String, _ path: IndexColumnPath,
        _ condition: ((Properties) -> Condition)?
    ) throws -> Value? {
        let column = try column(path)
        let found = try value("\(function)(\(column))", filter(condition))
        return found == .null ? nil : Value(columnValue: found)
    }

    func sum(_ path: IndexColumnPath, _ condition: ((Properties) -> Condition)?) throws -> Double {
        Double(columnValue: try value("total(\(column(path)))", filter(condition))) ?? 0
    }

    func average(_ path: IndexColumnPath, _ condition: ((Properties) -> Condition)?) throws -> Double? {
        Double(columnValue: try value("avg(\(column(path)))", filter(condition)))
    }

    func counts<Value: YapDatabaseColumnConvertible>(
        _ path: IndexColumnPath, _ condition: ((Properties) -> Condition)?
    ) throws -> [(value: Value, count: Int)] {
        let column = try column(path)
        let filter = try filter(condition)
        let text = "SELECT \(column), count(*)\(sql.from)\(filter.text) GROUP BY \(column) ORDER BY \(column)"
        return try query(text, filter) { statement in
            var counts: [(value: Value, count: Int)] = []
            while try statement.step() {
                guard let value = Value(columnValue: statement.columnValue(at: 0)) else { continue }
                counts.append((value, Int(statement.int64(at: 1))))
            }
            return counts
        }
    }

    func value(_ expression: String, _ filter: SecondaryIndexWhere) throws -> YapDatabaseColumnValue {
        try query("SELECT \(expression)\(sql.from)\(filter.text)", filter) {
            try $0.step() ? $0.columnValue(at: 0) : .null
        }
    }

    func query<Result>(
        _ text: String, _ filter: SecondaryIndexWhere, _ read: (borrowing Statement) throws -> Result
    ) throws -> Result {
        try tables.withStatement(text, filter.values, isKept: filter.isKept, countsValues: true, read)
    }
}
