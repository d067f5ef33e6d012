import SQLite
import Testing

@Suite struct ConnectionTests {
    @Test func whatIsWrittenIsReadBack() throws {
        let connection = try Connection(path: ":memory:")
        try connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, data BLOB, size REAL)")
        try connection.withStatement("INSERT INTO items (name, data, size) VALUES (?, ?, ?)") { statement in
            try statement.bind("Zürich", at: 1)
            try statement.binding([0, 1, 255], at: 2) {
                try statement.bind(1.5, at: 3)
                try statement.run()
            }
        }
        #expect(connection.lastInsertRowID == 1)
        #expect(connection.changesCount == 1)
        try connection.withStatement("SELECT name, data, size, NULL FROM items") { row in
            let isFound = try row.step()
            let (name, data, size, isNull) = (
                row.text(at: 0), row.bytes(at: 1), row.double(at: 2), row.isNull(at: 3)
            )
            #expect(isFound && isNull)
            #expect(name == "Zürich")
            #expect(data == [0, 1, 255])
            #expect(size == 1.5)
            let isAnother = try row.step()
            #expect(!isAnother)
        }
        try connection.close()
    }
}
