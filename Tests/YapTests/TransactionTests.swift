import Testing

@testable import Yap

struct TransactionTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
    }

    @Test func whatIsSetIsReadByEveryConnectionAndFromDisk() throws {
        let other = database.newConnection()
        try connection.blocking.readWrite { try $0.set("eggs", "1") }
        #expect(try connection.blocking.read { try $0.todo("1") } == Todo(title: "eggs"))
        #expect(try other.blocking.read { try $0.todo("1") } == Todo(title: "eggs"))
        #expect(try connection.todoFromDisk("1") == Todo(title: "eggs"))
        #expect(try other.blocking.read { try $0.todo("2") } == nil)
        #expect(database.snapshot == 1)
    }

    @Test func asynchronousFormsReadAndWrite() async throws {
        try await connection.readWrite { try $0.set("milk", "1") }
        let todo = try await connection.read { try $0.todo("1") }
        #expect(todo == Todo(title: "milk"))
    }
}
