internal import CloudKit
internal import SQLite

/// Handle and statement texts for the tables of one registration.
final class SyncStatements {
    /// The registered name.
    let name: String
    let sqlite: Connection
    let texts: StatementTexts

    init(name: String, sqlite: Connection, texts: StatementTexts) {
        self.name = name
        self.sqlite = sqlite
        self.texts = texts
    }
}

/// A type that runs statements on the extension's tables.
protocol SyncTable {
    var statements: SyncStatements { get }
}
extension SyncTable {
    /// The registered name.
    var name: String { statements.name }
    var sqlite: Connection { statements.sqlite }
    var texts: StatementTexts { statements.texts }
    /// The folder of the copies of files.
    var assets: AssetFolder { texts.assets }
    /// The paths of the bytes of `CloudFile`s.
    var files: CloudFilePaths { texts.files }

    /// Returns a table's name for SQL.
    func table(_ kind: String) -> String { texts.table(kind) }

    func quoted(_ identifier: String) -> String { Connection.quoted(identifier) }

    func zone(_ zoneID: CKRecordZone.ID, _ database: DatabaseKey) -> [SQLValue] {
        [.text(database.column), .text(zoneID.ownerName), .text(zoneID.zoneName)]
    }

    func identity(_ recordID: CKRecord.ID, _ database: DatabaseKey) -> [SQLValue] {
        zone(recordID.zoneID, database) + [.text(recordID.recordName)]
    }

    /// Binds the values in their order, and runs the statement to its end.
    func run(
        _ sql: @autoclosure () -> String, _ values: [SQLValue] = [], file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column
    ) throws {
        try sqlite.withStatement(texts.text(.init(file, line, column), sql)) { statement in
            try bind(values, to: statement)
            try statement.run()
        }
    }

    /// Binds the values in their order, and returns all rows.
    func rows<Row>(
        _ sql: @autoclosure () -> String, _ values: [SQLValue] = [], file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column, _ read: (borrowing Statement) throws -> Row
    ) throws -> [Row] {
        try sqlite.withStatement(texts.text(.init(file, line, column), sql)) { statement in
            try bind(values, to: statement)
            var rows: [Row] = []
            while try statement.step() { rows.append(try read(statement)) }
            return rows
        }
    }

    /// Binds the values in their order, and returns the first row, or nil if there is none.
    func first<Row>(
        _ sql: @autoclosure () -> String, _ values: [SQLValue] = [], file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column, _ read: (borrowing Statement) throws -> Row
    ) throws -> Row? {
        try sqlite.withStatement(texts.text(.init(file, line, column), sql)) { statement in
            try bind(values, to: statement)
            return try statement.step() ? try read(statement) : nil
        }
    }

    /// Deletes all rows of a zone from a table.
    func deleteRows(
        of zoneID: CKRecordZone.ID, _ database: DatabaseKey, from kind: String, file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column
    ) throws {
        try run(
            "DELETE FROM \(table(kind)) WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3",
            zone(zoneID, database), file: file, line: line, column: column)
    }

    /// Deletes the row of a record from a table.
    func deleteRow(
        of recordID: CKRecord.ID, _ database: DatabaseKey, from kind: String, file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column
    ) throws {
        try run(
            """
            DELETE FROM \(table(kind))
            WHERE database = ?1 AND zone_owner = ?2 AND zone_name = ?3 AND record_name = ?4
            """, identity(recordID, database), file: file, line: line, column: column)
    }

    private func bind(_ values: [SQLValue], to statement: borrowing Statement) throws {
        for (index, value) in values.enumerated() {
            let position = Int32(index + 1)
            switch value {
            case .integer(let value): try statement.bind(value, at: position)
            case .text(let value): try statement.bind(value, at: position)
            case .blob(let value): try statement.bind(value, at: position)
            case .null: try statement.bindNull(at: position)
            }
        }
    }
}

/// Value of a statement's placeholder.
enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}
