import SQLite
import Testing

@Suite struct StatementTests {
    let connection: Connection

    init() throws {
        connection = try Connection(path: ":memory:")
    }

    @Test(arguments: ["", "a", "Zürich 東京 🗻", "with\0nul", String(repeating: "long ", count: 50_000)])
    func textComesBackAsItWasBoundBothWays(text: String) throws {
        let bytes = Array(text.utf8)
        try connection.withStatement("SELECT ?1, typeof(?1)") { statement in
            try statement.bind(text, at: 1)
            let copied = try columns(statement)
            #expect(copied == [bytes, Array("text".utf8)])
            statement.reset()
            let lent = try statement.binding(text, at: 1) { try columns(statement) }
            #expect(lent == [bytes, Array("text".utf8)])
        }
    }

    @Test(arguments: [[], [0], [1, 2, 3, 0, 255], [UInt8](repeating: 7, count: 300_000)] as [[UInt8]])
    func blobsComeBackAsTheyWereBoundBothWays(bytes: [UInt8]) throws {
        try connection.withStatement("SELECT ?1, typeof(?1)") { statement in
            try statement.bind(bytes, at: 1)
            let copied = try columns(statement)
            #expect(copied == [bytes, Array("blob".utf8)])
            statement.reset()
            let lent = try statement.binding(bytes, at: 1) { try columns(statement) }
            #expect(lent == [bytes, Array("blob".utf8)])
        }
    }

    @Test func numbersAndNullComeBackAsTheyWereBound() throws {
        try connection.withStatement("SELECT ?, ?, ?") { statement in
            for (integer, double) in [(Int64.min, -0.5), (0, .infinity), (.max, 1e-300)] {
                try statement.bind(integer, at: 1)
                try statement.bind(double, at: 2)
                try statement.bindNull(at: 3)
                let isRow = try statement.step()
                let read = (statement.int64(at: 0), statement.double(at: 1), statement.isNull(at: 2))
                #expect(isRow && read == (integer, double, true))
                statement.reset()
            }
        }
    }

    @Test func lentBytesAreUnboundWhenTheClosureEnds() throws {
        try connection.withStatement("SELECT ?1 IS NULL") { statement in
            let inside = try statement.binding("text", at: 1) {
                try statement.step() ? statement.int64(at: 0) : nil
            }
            // Not reset by hand: the end of the closure has done it.
            let outside = try statement.step() ? statement.int64(at: 0) : nil
            #expect(inside == 0)
            #expect(outside == 1)
        }
    }

    @Test func aStatementComesFromTheCacheResetAndWithoutBindings() throws {
        let sql = "SELECT ?1 IS NULL UNION ALL SELECT 2"
        try connection.withStatement(sql) { statement in
            try statement.bind(5, at: 1)
            let first = try next(statement)
            #expect(first == 0)
        }
        let again = try connection.withStatement(sql) { try next($0) }
        #expect(again == 1)
    }

    @Test func theSameSQLInsideItselfGetsAStatementOfItsOwn() throws {
        let sql = "SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3"
        var seen: [Int64] = []
        try connection.withStatement(sql) { outer in
            while let value = try next(outer) {
                seen.append(value)
                let inner = try connection.integers(sql)
                #expect(inner == [1, 2, 3])
            }
        }
        #expect(seen == [1, 2, 3])
    }

    @Test(arguments: ["'\u{e9}'", "'\u{e9}' AS aLongerNameThanFifteenBytes"])
    func textsThatDifferInBytesAloneAreTwoStatements(expression: String) throws {
        for text in [expression, expression.replacing("\u{e9}", with: "e\u{301}")] {
            let found = try connection.withStatement("SELECT \(text)") { try columns($0) }
            #expect(found == [Array(text.utf8).prefix { $0 != 0x20 }.filter { $0 != 0x27 }])
        }
    }

    @Test func moreStatementsThanTheCacheHoldsStillWork() throws {
        for round in 0..<2 {
            for number in 0..<300 {
                #expect(try connection.integer("SELECT \(number) -- \(round)") == Int64(number))
            }
        }
        try connection.close()
    }

    @Test func oneStatementAndNoMoreIsPrepared() throws {
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("SELECT 1; SELECT 2") }
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("  ") }
        #expect(throws: SQLiteError.self) { _ = try connection.prepare("SELEKT 1") }
        _ = try connection.prepare("SELECT 1;\n ")
    }

    @Test func aParameterThatIsNotThereIsAnError() throws {
        try connection.withStatement("SELECT ?") { statement in
            let isRefused = try refuses { try statement.bind(1, at: 2) }
            #expect(isRefused)
        }
    }

    @Test func columnsHaveNames() throws {
        try connection.withStatement("SELECT 1 AS first, 2 AS second") { statement in
            let names = (0..<statement.columnCount).map { statement.columnName(at: $0) }
            #expect(names == ["first", "second"])
        }
    }

    @Test func anErrorInAStepLetsGoOfTheTransaction() throws {
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY); INSERT INTO items VALUES (1)")
        try connection.withStatement("INSERT INTO items VALUES (?)") { statement in
            try statement.bind(1, at: 1)
            let isRefused = try refuses { try statement.run() }
            #expect(isRefused)
            try statement.bind(2, at: 1)
            try statement.run()
        }
        #expect(!connection.isInTransaction)
        #expect(try connection.integers("SELECT id FROM items") == [1, 2])
    }

    private func columns(_ statement: borrowing Statement) throws -> [[UInt8]] {
        guard try statement.step() else { return [] }
        var found: [[UInt8]] = []
        for column in 0..<statement.columnCount { found.append(statement.bytes(at: column)) }
        return found
    }

    private func next(_ statement: borrowing Statement) throws -> Int64? {
        try statement.step() ? statement.int64(at: 0) : nil
    }

    private func refuses(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return false
        } catch is SQLiteError {
            return true
        }
    }
}
