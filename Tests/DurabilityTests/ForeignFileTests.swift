import CloudStore
import Foundation
import SQLite
import SQLiteTestSupport
import Testing
import Yap

/// A file that isn't ours is refused with an error that says so, and stays as it is, to the byte.
@Suite struct ForeignFileTests {
    enum Content: CaseIterable, Sendable {
        case text, shortText, anotherProgramsDatabase, damagedHeader

        func write(to path: String) throws {
            switch self {
            case .text:
                try Data("Dear diary, this is no database.".utf8).write(to: URL(fileURLWithPath: path))
            case .shortText: try Data("SQL".utf8).write(to: URL(fileURLWithPath: path))
            case .anotherProgramsDatabase:
                let connection = try Connection(path: path)
                try connection.execute("PRAGMA journal_mode=DELETE; CREATE TABLE diary (page TEXT)")
                try connection.close()
            case .damagedHeader:
                let connection = try Connection(path: path)
                try connection.execute("CREATE TABLE diary (page TEXT)")
                try connection.close()
                var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
                bytes.replaceSubrange(0..<8, with: Data(repeating: 0, count: 8))
                try bytes.write(to: URL(fileURLWithPath: path))
            }
        }
    }

    @Test(arguments: Content.allCases)
    func yapRefusesIt(content: Content) throws {
        try refuses(content) { path in
            let error = #expect(throws: YapDatabaseError.self) { try YapDatabase(path: path) { _ in } }
            #expect(error?.code == (content == .anotherProgramsDatabase ? .notAYapDatabase : .notADatabase))
            #expect(error?.message.contains(path) == true)
        }
    }

    @Test(arguments: Content.allCases)
    func theCloudStoreRefusesIt(content: Content) throws {
        try refuses(content) { path in
            let error = #expect(throws: CloudStoreError.self) { try SQLiteCloudStore(path: path) }
            let isForeign = content == .anotherProgramsDatabase
            #expect(error == (isForeign ? .foreignFile(path: path) : .notADatabase(path: path)))
        }
    }

    private func refuses(_ content: Content, _ body: (String) throws -> Void) throws {
        let folder = try TemporaryFolder()
        let path = folder.file("test.db")
        try content.write(to: path)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        try body(path)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["test.db"])
    }
}
