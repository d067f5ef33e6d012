import Foundation
import SQLite
import Testing

@testable import Yap

struct OpeningTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
    }

    private func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: folder.file)) }

    private func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: folder.file)) }

    private func openingCode() -> YapDatabaseError.Code? { code { _ = try folder.open() } }

    @Test func whatWasCommittedIsThereAfterReopening() throws {
        let first = try folder.open()
        try first.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
        try first.blocking.close()
        let second = try folder.open()
        #expect(try second.newConnection().blocking.read { try $0.todo("1") }?.title == "eggs")
        #expect(second.snapshot == 1)
    }

    @Test func aNewFileIsReadableByItsOwnerAloneAndAnExistingOneKeepsItsMode() throws {
        func modes() throws -> [String: Int] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            return try names.reduce(into: [:]) { modes, name in
                let file = try FileManager.default.attributesOfItem(atPath: folder.path + "/" + name)
                modes[name] = (file[.posixPermissions] as? NSNumber)?.intValue
            }
        }
        let first = try folder.open()
        try first.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
        #expect(try modes() == ["test.yap": 0o600, "test.yap-wal": 0o600, "test.yap-shm": 0o600])
        try first.blocking.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file)
        let second = try folder.open()
        #expect(try modes()["test.yap"] == 0o640)
        try second.blocking.close()
    }

    @Test func aFileThatIsNotADatabaseIsRefusedAndLeftAsItIs() throws {
        let text = Data(String(repeating: "this is a letter, not a database. ", count: 500).utf8)
        try write(text)
        #expect(openingCode() == .notADatabase)
        #expect(try bytes() == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["test.yap"])
    }

    @Test func aDatabaseOfAnotherProgramIsRefusedAndLeftAsItIs() throws {
        let made = folder.path + "/made"
        let other = try Connection(path: made)
        try other.execute("PRAGMA journal_mode = DELETE; CREATE TABLE letters (body TEXT)")
        try other.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: made))
        try write(before)
        #expect(openingCode() == .notAYapDatabase)
        #expect(try bytes() == before)
    }

    @Test func aFileOfALaterVersionIsRefused() throws {
        try folder.open().blocking.close()
        let connection = try Connection(path: folder.file)
        try connection.execute("PRAGMA user_version = 99")
        try connection.close()
        #expect(openingCode() == .unsupportedFormat)
    }

    @Test func aDamagedFileIsRefusedAndNeverReplaced() throws {
        let database = try folder.open()
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<200 { try transaction.set("some text to fill pages", "\(number)") }
        }
        try database.blocking.close()
        var damaged = try bytes()
        damaged.replaceSubrange(100..<damaged.count, with: Data(repeating: 0xA5, count: damaged.count - 100))
        try write(damaged)
        #expect(openingCode() == .corrupt)
        #expect(try bytes() == damaged)
    }

    @Test func aDamagedPageIsAThrownErrorWhenItIsRead() throws {
        let database = try folder.open()
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<2000 { try transaction.set("some text to fill pages", "\(number)") }
        }
        try database.blocking.close()
        var damaged = try bytes()
        damaged.replaceSubrange(
            20_000..<damaged.count, with: Data(repeating: 0xA5, count: damaged.count - 20_000))
        try write(damaged)
        let connection = try folder.open().newConnection()
        #expect(
            code {
                try connection.blocking.read { transaction in
                    for number in 0..<2000 { _ = try transaction.todo("\(number)") }
                }
            } == .corrupt)
    }

    @Test func theWriteAheadLogIsCutWhenItIsLargerThanItsLimit() throws {
        var options = YapDatabaseOptions()
        options.durability = .normal
        options.logBytesMax = 256 << 10
        let connection = try folder.open(options).newConnection()
        var largestBytes = 0
        for number in 0..<1000 {
            try connection.blocking.readWrite { try $0.set("t", "\(number % 50)") }
            let attributes = try FileManager.default.attributesOfItem(atPath: folder.file + "-wal")
            largestBytes = max(largestBytes, try #require((attributes[.size] as? NSNumber)?.intValue))
        }
        // SQLite alone lets it grow to 4 MB.
        #expect(largestBytes < 2 << 20)
    }

    @Test func theWriterKeepsAsManyPagesAsTheOptionAllowsAndReadersKeepFew() throws {
        var options = YapDatabaseOptions()
        options.writerPageCacheBytesMax = 5 << 20
        let connection = try folder.open(options).newConnection()
        let size = "PRAGMA cache_size"
        // A negative number is in KiB.
        let writer = try connection.blocking.readWrite { try $0.sqlite.withStatement(size, Self.number) }
        let reader = try connection.blocking.read { try $0.sqlite.withStatement(size, Self.number) }
        #expect(writer == -(5 << 10) && reader == -2000)
    }

    private static func number(_ statement: borrowing Statement) throws -> Int64 {
        try #require(try statement.step())
        return statement.int64(at: 0)
    }

    @Test func anEmptyFileBecomesADatabase() throws {
        try write(Data())
        #expect(openingCode() == nil)
    }

    @Test func aMissingFolderAndAFolderInPlaceOfAFileAreErrors() throws {
        #expect(code { _ = try YapDatabase(path: folder.path + "/none/x.yap") { _ in } } == .cannotOpen)
        #expect(code { _ = try YapDatabase(path: folder.path) { _ in } } != nil)
        let web = try #require(URL(string: "https://example.com/x.yap"))
        #expect(code { _ = try YapDatabase(url: web) { _ in } } == .cannotOpen)
    }

    @Test func mistakesInTheConfigurationAreErrors() throws {
        #expect(
            code { _ = try folder.open { $0.register(Int.self, inCollection: "todos") } } == .typeMismatch)
        #expect(
            code {
                _ = try folder.open {
                    $0.preSanitize(Int.self, inCollection: "todos") { _, _, value in value }
                }
            } == .missingRegistration)
    }

    @Test func aFileThatWasDeletedDoesNotComeBackEmpty() throws {
        let database = try folder.open()
        try FileManager.default.removeItem(atPath: folder.file)
        #expect(code { try database.newConnection().blocking.read { _ in } } == .cannotOpen)
    }
}
