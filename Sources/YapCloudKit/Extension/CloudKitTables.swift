internal import CloudKit
internal import CloudWire
internal import SQLite

/// The extension's tables, and the statements on them. All of it runs in the app's own transaction.
struct CloudKitTables {
    let name: String
    let sqlite: Connection
    let texts: StatementTexts
    /// Where the copies of files lie.
    var assets: AssetFolder { texts.assets }
    /// Where the bytes of `CloudFile`s are.
    var files: CloudFilePaths { texts.files }

    init(name: String, sqlite: Connection, texts: StatementTexts? = nil) {
        self.name = name
        self.sqlite = sqlite
        self.texts = texts ?? StatementTexts(name: name, database: sqlite.path)
    }

    static func tableNames(_ name: String) -> [String] {
        [
            "record", "mapping", "changeset", "change", "token", "stash", "log", "subscription", "user",
            "account",
            "count", "asset", "error", "refusal", "known", "checksum", "unread",
        ].map { "cloudKit_\($0)_\(name)" }
    }

    /// A table's name as it stands in SQL.
    func table(_ kind: String) -> String { texts.table(kind) }

    func quoted(_ identifier: String) -> String { Connection.quoted(identifier) }

    // MARK: Running statements

    // The text of a statement is built at its first use only: it must not change from call to call.

    /// Binds the values in their order and runs to the end.
    func run(
        _ sql: @autoclosure () -> String, _ values: [SQLValue] = [], file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column
    ) throws {
        try sqlite.withStatement(texts.text(.init(file, line, column), sql)) { statement in
            try bind(values, to: statement)
            try statement.run()
        }
    }

    /// Binds the values in their order and reads each row.
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

    /// The first row.
    func first<Row>(
        _ sql: @autoclosure () -> String, _ values: [SQLValue] = [], file: StaticString = #fileID,
        line: UInt = #line, column: UInt = #column, _ read: (borrowing Statement) throws -> Row
    ) throws -> Row? {
        try sqlite.withStatement(texts.text(.init(file, line, column), sql)) { statement in
            try bind(values, to: statement)
            return try statement.step() ? try read(statement) : nil
        }
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

/// What a statement's placeholder can stand for.
enum SQLValue {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    init(_ text: String?) { self = text.map { .text($0) } ?? .null }
}
