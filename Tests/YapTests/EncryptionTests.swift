import Foundation
import SQLite
import SQLiteTestSupport
import Testing

@testable import Yap

/// With the system's SQLite these tests hold that nothing is written without encryption. `Scripts/sqlcipher` runs them
/// with SQLCipher in its place.
struct EncryptionTests {
    let folder: TestFolder
    let byRating = YapDatabaseSecondaryIndex("byPriority", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.priority)
    }
    let byTitle = YapDatabaseFullTextSearch("byTitle", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.title)
    }
    let secret = "a sentence that is in no other file"

    init() throws { folder = try TestFolder() }

    private func options(_ byte: UInt8) throws -> YapDatabaseOptions {
        var options = YapDatabaseOptions()
        options.encryptionKey = try .init(bytes: [UInt8](repeating: byte, count: 32))
        return options
    }

    private func fill(_ database: YapDatabase) throws {
        try database.blocking.register(byRating)
        try database.blocking.register(byTitle)
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<300 {
                try transaction.setObject(
                    Todo(title: "\(secret) \(number)", priority: number), forKey: "\(number)",
                    inCollection: "todos")
            }
        }
    }

    private func found(_ database: YapDatabase) throws -> [String] {
        try database.blocking.register(byRating)
        try database.blocking.register(byTitle)
        return try database.newConnection().blocking.read { transaction in
            try transaction[byRating].keys(where: { $0.priority > 297 })
                + transaction[byTitle].keys(.words("7"))
        }
    }

    /// All bytes of the database's file and of the files beside it.
    private func storedBytes(_ folder: String) throws -> Data {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted().reduce(into: Data()) {
            all, name in
            all += try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
        }
    }

    @Test func aDatabaseWithAKeyIsEncryptedOrNotCreatedAtAll() throws {
        if ProcessInfo.processInfo.environment["YAP_SQLCIPHER"] != nil { #expect(Connection.hasEncryption) }
        let options = try options(1)
        guard Connection.hasEncryption else {
            #expect(code { _ = try folder.open(options) } == .encryptionUnavailable)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
            return
        }
        let database = try folder.open(options)
        try fill(database)
        #expect(try storedBytes(folder.path).range(of: Data("sentence".utf8)) == nil)
        try database.blocking.close()
        #expect(try storedBytes(folder.path).range(of: Data("sentence".utf8)) == nil)
        #expect(try storedBytes(folder.path).range(of: Data("SQLite format 3".utf8)) == nil)
        let again = try folder.open(options)
        #expect(try found(again) == ["298", "299", "7"])
        try again.blocking.close()
    }

    @Test func aDatabaseIsOpenedWithItsOwnKeyOnlyAndStaysAsItIs() throws {
        let isEncrypted = Connection.hasEncryption
        let (own, other) = (isEncrypted ? try options(1) : YapDatabaseOptions(), try options(2))
        let database = try folder.open(own)
        try fill(database)
        try database.blocking.close()
        let before = try storedBytes(folder.path)
        #expect(code { _ = try folder.open(other) } == (isEncrypted ? .notADatabase : .encryptionUnavailable))
        var deletes = YapDatabaseOptions()
        deletes.whenCorrupt = .delete
        if isEncrypted {
            func openWithoutKey() throws { _ = try YapDatabase(path: folder.file, options: deletes) { _ in } }
            #expect(code(openWithoutKey) == .notADatabase)
            deletes.encryptionKey = other.encryptionKey
            #expect(code(openWithoutKey) == .notADatabase)
        }
        #expect(try storedBytes(folder.path) == before)
        let again = try folder.open(own)
        #expect(try found(again) == ["298", "299", "7"])
        try again.blocking.close()
    }

    @Test func aBackupOfAnEncryptedDatabaseHasItsKey() throws {
        guard Connection.hasEncryption else {
            #expect(code { _ = try folder.open(try options(1)) } == .encryptionUnavailable)
            return
        }
        let database = try folder.open(options(1))
        try fill(database)
        let copies = try TemporaryFolder()
        try database.blocking.backup(to: copies.file("copy.yap"))
        #expect(try storedBytes(copies.path).range(of: Data("sentence".utf8)) == nil)
        let copy = try YapDatabase(path: copies.file("copy.yap"), options: options(1)) {
            $0.register(Todo.self, metadata: Stamp.self, inCollection: "todos")
        }
        #expect(try found(copy) == ["298", "299", "7"])
        try copy.blocking.close()
        try database.blocking.close()
    }

    @Test(arguments: [(1, 2), (1, nil), (nil, 2)] as [(UInt8?, UInt8?)])
    func aBackupMayHaveAnotherKeyOrNone(from: UInt8?, to: UInt8?) throws {
        func options(_ byte: UInt8?) throws -> YapDatabaseOptions {
            try byte.map { try self.options($0) } ?? YapDatabaseOptions()
        }
        let (own, other) = (try options(from), try options(to))
        func open(_ path: String, _ options: YapDatabaseOptions) throws -> YapDatabase {
            try YapDatabase(path: path, options: options) {
                $0.register(Todo.self, metadata: Stamp.self, inCollection: "todos")
            }
        }
        let copies = try TemporaryFolder()
        let path = copies.file("it's a copy.yap")
        guard Connection.hasEncryption else {
            let database = try open(folder.file, YapDatabaseOptions())
            #expect(
                code { try database.blocking.backup(to: path, encryptionKey: other.encryptionKey) }
                    == .encryptionUnavailable)
            #expect(try FileManager.default.contentsOfDirectory(atPath: copies.path).isEmpty)
            return
        }
        let database = try open(folder.file, own)
        try fill(database)
        try database.newConnection().blocking.readWrite { transaction in
            for number in 0..<100 {
                try transaction.removeObject(forKey: "\(number * 2)", inCollection: "todos")
            }
        }
        try database.blocking.backup(to: path, encryptionKey: other.encryptionKey)
        // The file beside it, a journal, is gone; and nobody else can read it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: copies.path).count == 1)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let isReadable = try storedBytes(copies.path).range(of: Data("sentence".utf8)) != nil
        #expect(isReadable == (to == nil))
        #expect(code { _ = try open(path, own) } == .notADatabase)

        let copy = try open(path, other)
        #expect(copy.snapshot == database.snapshot)
        // Without a registration first: the tables are there.
        let rows = try copy.newConnection().blocking.read { transaction in
            #expect(try transaction.sqlite.integrityCheck() == [])
            return try transaction.objects(Todo.self, inCollection: "todos").map { "\($0)" }
        }
        let originals = try database.newConnection().blocking.read { transaction in
            try transaction.objects(Todo.self, inCollection: "todos").map { "\($0)" }
        }
        #expect(rows == originals && rows.count == 200)
        #expect(try found(copy) == ["298", "299", "7"])
        try copy.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
        try copy.blocking.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let existing = code { try database.blocking.backup(to: path, encryptionKey: other.encryptionKey) }
        #expect(existing == .cannotOpen)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        try database.blocking.close()
    }

    @Test func aPassphraseMayHoldAnyCharacterButNUL() throws {
        #expect(throws: YapDatabaseError.self) { try YapDatabaseOptions.EncryptionKey(passphrase: "") }
        #expect(throws: YapDatabaseError.self) { try YapDatabaseOptions.EncryptionKey(passphrase: "a\0b") }
        #expect(throws: YapDatabaseError.self) { try YapDatabaseOptions.EncryptionKey(bytes: [1, 2]) }
        var options = YapDatabaseOptions()
        options.encryptionKey = try .init(passphrase: "it's \"so\"; DROP TABLE x'00' -- \u{e9}")
        guard Connection.hasEncryption else {
            #expect(code { _ = try folder.open(options) } == .encryptionUnavailable)
            return
        }
        for _ in 0..<2 {
            let database = try folder.open(options)
            try database.newConnection().blocking.readWrite { try $0.set("eggs", "1") }
            try database.blocking.close()
        }
        options.encryptionKey = try .init(passphrase: "it's")
        #expect(code { _ = try folder.open(options) } == .notADatabase)
    }

    @Test func aKeyIsInNoDescriptionAndInNoError() throws {
        let options = try options(0xAB)
        var dumped = ""
        dump(options, to: &dumped)
        var texts = [dumped, "\(options)", String(reflecting: options)]
        do {
            try folder.open(options).blocking.close()
            texts.append("\(try folder.open(self.options(0xAC)))")
        } catch {
            texts.append("\(error)")
        }
        for text in texts { #expect(!text.lowercased().contains("abab") && !text.contains("171")) }
    }
}
