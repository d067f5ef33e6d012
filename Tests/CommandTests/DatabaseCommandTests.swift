import Foundation
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCommand

/// `yap db` beside the app that has the file open.
@Suite struct DatabaseCommandTests {
    private struct Todo: Codable, Sendable {
        var title: String
        var due: Date?
        var photo = Data()
        var tags: [String] = []
        var weight = 0.5
    }

    private let folder: TemporaryFolder
    private let database: YapDatabase
    private var path: String { folder.file("phone.yap") }

    init() throws {
        folder = try TemporaryFolder()
        database = try YapDatabase(path: folder.file("phone.yap")) {
            $0.register(Todo.self, metadata: Int.self, inCollection: "todos")
            let plain = YapDatabaseSerializer<String>(
                encode: { Array($0.utf8) }, decode: { String(decoding: $0, as: UTF8.self) })
            $0.register(String.self, serializer: plain, inCollection: "plain")
        }
        let titles = YapDatabaseSecondaryIndex("titles", of: Todo.self, in: "todos", version: "1") {
            $0.column(\.title)
        }
        try database.blocking.register(titles)
        try database.newConnection().blocking.readWrite { transaction in
            let todo = Todo(
                title: "Milk \u{1B}[2J", due: Date(timeIntervalSinceReferenceDate: 12.25),
                photo: Data([1, 2]),
                tags: ["a", "b"], weight: .infinity)
            try transaction.setObject(todo, metadata: 7, forKey: "1", inCollection: "todos")
            try transaction.setObject(Todo(title: "Eggs"), forKey: "two words", inCollection: "todos")
            try transaction.setObject("~", forKey: "x", inCollection: "plain")
        }
    }

    private func db(_ words: String...) async throws -> YapProcess.Ended {
        try await YapProcess.run(["db"] + words, in: folder)
    }

    private func object(_ text: some StringProtocol) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test func collectionsAndExtensionsAreShownBesideTheApp() async throws {
        let ended = try await db("info", path)
        #expect(ended.code == 0, "\(ended.errors)")
        for line in [
            "collection plain: 1 row, 1 bytes", "collection todos: 2 rows, ",
            "extension titles: YapDatabaseSecondaryIndex",
        ] {
            #expect(ended.output.contains(line), "\(ended.output)")
        }
        let json = try object(try await db("info", path, "--json").output)
        #expect((json["collections"] as? [[String: Any]])?.compactMap { $0["rows"] as? Int } == [1, 2])
        let extensions = try #require(json["extensions"] as? [[String: Any]])
        #expect(extensions.map { $0["isBehind"] as? Bool } == [false])
    }

    @Test func anObjectIsPrintedByItsKeyAndItsTextCannotSteerTheTerminal() async throws {
        let ended = try await db("get", path, "todos", "1")
        #expect(
            ended.output == """
                {"title":"Milk \\u001b[2J","due":12.25,"photo":{"$bytes":"AQI="},"tags":["a","b"],"weight":\
                {"$double":"inf"}}
                metadata 7

                """)
        let json = try object(try await db("get", path, "plain", "x", "--json").output)
        #expect((json["object"] as? [String: String]) == ["$foreign": "fg=="] && json["metadata"] == nil)
        let missing = try await db("get", path, "todos", "3")
        #expect(missing.code == 3 && missing.errors.contains("has no key 3 in todos"), "\(missing.errors)")
    }

    @Test func aDumpHasEachRowOnALine() async throws {
        let lines = try await db("dump", path).output.split(separator: "\n").map { try object($0) }
        #expect(lines.compactMap { $0["collection"] as? String } == ["plain", "todos", "todos"])
        #expect(lines.compactMap { $0["key"] as? String } == ["x", "1", "two words"])
        let one = try await db("dump", path, "--collection", "plain")
        #expect(one.output == "{\"collection\":\"plain\",\"key\":\"x\",\"object\":{\"$foreign\":\"fg==\"}}\n")
    }

    @Test func damageIsFound() async throws {
        let whole = try await db("check", path)
        #expect(whole.code == 0 && whole.output.contains("no damage; 3 rows, 1 of them"), "\(whole)")
        try await database.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        // From the second page on: the first has the header, without which it is no database.
        try file.seek(toOffset: 4096)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 8192))
        try file.close()
        let damaged = try await db("check", path)
        #expect(damaged.code == 1 && damaged.errors.contains("is damaged"), "\(damaged)")
    }

    @Test func aCopyHasAllAndNothingIsOverwritten() async throws {
        let copy = folder.file("copy.yap")
        let ended = try await db("backup", path, copy)
        #expect(ended.code == 0, "\(ended.errors)")
        #expect(try await db("dump", copy).output == db("dump", path).output)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.hasSuffix(".part") })
        let again = try await db("backup", path, copy)
        #expect(again.code == 4 && again.errors.contains("exists already"), "\(again)")
        let nowhere = try await db("backup", path, folder.file("absent/copy.yap"))
        #expect(nowhere.code == 1 && nowhere.output.isEmpty, "\(nowhere)")
    }

    @Test func aBackupSaysWhetherTheCopyExistsWhenItsRenameFails() throws {
        func failure(at failing: FileStep) throws -> (text: String, draft: Bool, copy: Bool) {
            let draft = folder.file("\(failing).part"), copy = folder.file("\(failing)")
            try Data([1]).write(to: URL(fileURLWithPath: draft))
            let calls = FileCalls { step, _ in step == failing ? EIO : nil }
            let error = #expect(throws: Failure.self) {
                try BackupCopyCommand.move(draft, to: copy, calls: calls)
            }
            guard case .failed(let text) = error else { return ("", true, true) }
            let files = FileManager.default
            return (text, files.fileExists(atPath: draft), files.fileExists(atPath: copy))
        }
        let unsynced = try failure(at: .syncFolder)
        #expect(unsynced.text.contains("is complete, but its folder can't be synced"))
        #expect(unsynced.copy && !unsynced.draft)
        let unnamed = try failure(at: .link)
        #expect(unnamed.text.contains("can't be written"))
        #expect(!unnamed.copy && !unnamed.draft)
    }

    @Test func aFileThatCannotBeReadIsAnErrorWithItsReason() async throws {
        try "text".write(toFile: folder.file("text"), atomically: true, encoding: .utf8)
        for command in [
            ["info"], ["get", "FILE", "a", "b"], ["dump"], ["check"], ["backup", "FILE", "copy"],
        ] {
            for (file, code, words) in [("absent", 3, "is not there"), ("text", 1, "is no database")] {
                var line = command.map { $0 == "FILE" ? folder.file(file) : $0 }
                if line.count == 1 { line.append(folder.file(file)) }
                let ended = try await YapProcess.run(["db"] + line, in: folder)
                #expect(ended.code == Int32(code) && ended.errors.contains(words), "\(line): \(ended)")
            }
        }
        #expect(!FileManager.default.fileExists(atPath: folder.file("absent")))
    }

    @Test func theHelpsExamplesWorkWhenTyped() async throws {
        for example in DatabaseCommands.commands.flatMap(\.examples) {
            let ended = try await YapProcess.shell("yap \(example)", in: folder)
            #expect(ended.code == 0 && !ended.output.isEmpty, "\(example): \(ended.errors)")
        }
    }
}
