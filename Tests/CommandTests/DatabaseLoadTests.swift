import CloudKit
import CloudKitTesting
import Foundation
import SQLiteTestSupport
import Seams
import Testing
import Yap
import YapCloudKit

@testable import YapCommand

/// `yap db dump` and `yap db load`.
@Suite struct DatabaseLoadTests {
    private let stage: DatabaseStage
    private var path: String { stage.path }

    init() throws { stage = try DatabaseStage() }

    /// The bytes of all rows, as the file has them.
    private func rows(_ name: String) throws -> [String] {
        let file = try DatabaseFile(path: stage.folder.file(name))
        var rows: [String] = []
        try file.forEachRow { row in
            let bytes = try #require(try file.storedBytes(row.key, inCollection: row.collection))
            rows.append("\(row.collection) \(row.key) \(bytes.data) \(bytes.metadata ?? [1, 2, 3, 4])")
        }
        return rows
    }

    @Test func aDumpIsLoadedToTheSameBytes() async throws {
        let database = try stage.open()
        try stage.fill(database)
        let dump = try await stage.db("dump", path)
        try stage.write(dump.output, "dump")
        for lines in ["dump", "-"] {
            let copy = "copy \(lines.count).yap"
            let ended = try await stage.db(
                "load", stage.folder.file(copy), lines == "-" ? "-" : stage.folder.file(lines), "--create",
                input: dump.output)
            #expect(ended.code == 0 && ended.output.contains("15 inserted, 0 replaced"), "\(ended)")
            #expect(try rows(copy) == rows("phone.yap"))
            #expect(try await stage.db("dump", stage.folder.file(copy)).output == dump.output)
            let app = try stage.open(copy)
            let key = "a\nb\u{0}\"\u{1B}"
            let odd = try await app.newConnection().read {
                try $0.object(DatabaseStage.Odd.self, forKey: key, inCollection: "odd")
            }
            #expect(odd?.large == .max && odd?.short.first == 0.1)
        }
        let again = try await stage.db("load", path, stage.folder.file("dump"), "--json")
        #expect(again.output.contains(#""inserted":0,"replaced":0,"unchanged":15"#), "\(again)")
        #expect(try DatabaseFile(path: path).snapshot() == database.snapshot)
    }

    @Test func theAppSeesLoadedRowsAndItsIndexCatchesUp() async throws {
        let database = try stage.open()
        let index = YapDatabaseSecondaryIndex("lists", of: DatabaseStage.Todo.self, in: "todos", version: "1")
        {
            $0.column(\.list)
        }
        try await database.register(index)
        try stage.fillTodos(database)
        let connection = database.newConnection()
        _ = try await connection.read { try $0.numberOfKeys(inCollection: "todos") }
        var commits = database.commits.makeAsyncIterator()
        let line = try await stage.db("get", path, "todos", "1", "--json").output
        let lines =
            line.replacing("\"home\"", with: "\"shop\"")
            + line.replacing("\"key\":\"1\"", with: "\"key\":\"9\"")
        let ended = try await stage.db("load", path, "-", "--replace", input: lines)
        #expect(ended.code == 0 && ended.output.contains("1 inserted, 1 replaced, 0 unchanged"), "\(ended)")
        #expect(await commits.next()?.isExternal == true)
        try await connection.readWrite { transaction in
            #expect(
                try transaction.object(DatabaseStage.Todo.self, forKey: "1", inCollection: "todos")?.list
                    == "shop")
            try transaction.touchObject(forKey: "0", inCollection: "todos")
        }
        try await connection.read { transaction throws in
            #expect(try transaction[index].rows(where: { $0.list == "shop" }).map(\.key) == ["1"])
            #expect(try transaction[index].rows(where: { $0.list == "home" }).map(\.key) == ["0", "9"])
        }
    }

    @Test func rowsThatAreThereAreAnErrorOrReplacedOrSkipped() async throws {
        try stage.fillTodos(try stage.open())
        let line = #"{"collection":"todos","key":"0","object":{"title":"New"}}"# + "\n"
        let new = #"{"collection":"todos","key":"new","object":{"title":"New"}}"# + "\n"
        try stage.write(new + line, "lines")
        let refused = try await stage.db("load", path, stage.folder.file("lines"))
        #expect(refused.code == 4 && refused.errors.contains("line 2: the key 0 is in todos"), "\(refused)")
        #expect(try rows("phone.yap").count == 4, "the file was checked before the first row was written")
        let dry = try await stage.db("load", path, stage.folder.file("lines"), "--replace", "--dry-run")
        #expect(dry.output.contains("1 inserted, 1 replaced, 0 unchanged, 0 skipped; nothing"), "\(dry)")
        #expect(try rows("phone.yap").count == 4)
        let skipped = try await stage.db("load", path, stage.folder.file("lines"), "--skip-existing")
        #expect(skipped.output.contains("1 inserted, 0 replaced, 0 unchanged, 1 skipped"), "\(skipped)")
        let replaced = try await stage.db("load", path, "-", "--replace", input: line)
        #expect(replaced.output.contains("0 inserted, 1 replaced"), "\(replaced)")
        let object = try await stage.db("get", path, "todos", "0").output
        #expect(object == "{\"title\":\"New\"}\n", "metadata went with the row")
        let both = try await stage.db("load", path, "-", "--replace", "--skip-existing")
        #expect(both.code == 2, "\(both)")
    }

    @Test func aBadLineIsRefusedWithItsPlace() async throws {
        try stage.fillTodos(try stage.open())
        let good = #"{"collection":"todos","key":"new","object":{"title":"New"}}"#
        let deep = String(repeating: "[", count: 140) + String(repeating: "]", count: 140)
        for (line, place) in [
            ("{", "column 2: a text"), ("[]", "column 1: an object"), ("{}", "collection, key and object"),
            (good + "x", "column 60: there is more"),
            (#"{"collection":"a","key":"b","object":01}"#, "column 38: a number begins with 0"),
            (
                #"{"collection":"a","key":"b","object":99999999999999999999}"#,
                "column 38: the number is too large"
            ),
            (
                #"{"collection":"a","key":"b","object":{"$bytes":"?"}}"#,
                "column 38: this is not a value that $bytes"
            ),
            (#"{"collection":"a","key":"b","object":{"$foreign":"AQ=="}}"#, "write the value"),
            (#"{"collection":"a","key":"b","object":{"a":1,"a":2}}"#, "the name a stands twice"),
            (#"{"collection":"a","key":"b","object":"\uD800"}"#, "column 39: half a character"),
            (#"{"collection":"a","key":"b","object":1,"objekt":1}"#, "no member objekt"),
            (#"{"collection":"a","key":"b","object":1,"key":"c"}"#, "key stands twice"),
            (#"{"collection":"a","key":"b","object":1,"version":0}"#, "from 1 to 4294967295"),
            (#"{"collection":"a","key":"b","object":1,"kept":2}"#, "kept is an object"),
            (
                #"{"collection":"a","key":"b","object":2,"storedObject":"GAE="}"#,
                "remove it if you changed object"
            ),
            (#"{"collection":"a","key":"b","object":\#(deep)}"#, "more than 128 levels"),
        ] {
            let ended = try await stage.db("load", path, "-", input: good + "\n\n" + line + "\n")
            #expect(ended.code == 1 && ended.errors.contains("line 3, "), "\(line): \(ended)")
            #expect(ended.errors.contains(place), "\(line): \(ended)")
        }
        #expect(try rows("phone.yap").count == 4)
        let utf8 = try await YapProcess.shell(
            #"printf '{"collection":"a","key":"\377","object":1}' | yap db load phone.yap -"#,
            in: stage.folder)
        #expect(utf8.code == 1 && utf8.errors.contains("the text isn't UTF-8"), "\(utf8)")
    }

    @Test func fileAndLinesMustBeThere() async throws {
        try stage.write("", "empty")
        let noFile = try await stage.db("load", stage.folder.file("absent.yap"), stage.folder.file("empty"))
        #expect(noFile.code == 3 && noFile.errors.contains("is not there"), "\(noFile)")
        #expect(!FileManager.default.fileExists(atPath: stage.folder.file("absent.yap")))
        _ = try stage.open()
        let noLines = try await stage.db("load", path, stage.folder.file("absent"))
        #expect(noLines.code == 3 && noLines.errors.contains("can't be read"), "\(noLines)")
        let other = try await stage.db("load", stage.folder.file("empty"), stage.folder.file("empty"))
        #expect(other.code == 1 && other.errors.contains("is no database of an app"), "\(other)")
    }

    @Test func manyRowsAreLoadedInTransactionsOfBoundedSize() async throws {
        _ = try stage.open()
        let lines = (0..<1_201).map { #"{"collection":"n","key":"\#($0)","object":\#($0)}"# }.joined(
            separator: "\n")
        let ended = try await stage.db("load", path, "-", input: lines)
        #expect(ended.code == 0 && ended.output.contains("1201 inserted"), "\(ended)")
        #expect(try DatabaseFile(path: path).snapshot() == 3)
        // A file is checked as a whole first; a pipe can't be.
        try stage.write(lines.replacing("t\":", with: "t\":1") + "\nx", "bad")
        let file = try await stage.db("load", path, stage.folder.file("bad"), "--replace")
        #expect(file.code == 1 && !file.errors.contains("are in the file"), "\(file)")
        #expect(try DatabaseFile(path: path).snapshot() == 3)
        let bad = try await YapProcess.shell("cat bad | yap db load phone.yap - --replace", in: stage.folder)
        #expect(bad.code == 1 && bad.errors.contains("line 1202, column 1"), "\(bad)")
        #expect(bad.errors.contains("The first 1201 rows of the lines are in the file."), "\(bad)")
    }

    @Test func aHugeValueIsDumpedAndLoaded() async throws {
        let database = try stage.open()
        let bytes = (0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(bytes, metadata: [UInt8](), forKey: "huge", inCollection: "plain")
        }
        let ended = try await YapProcess.shell(
            "yap db dump phone.yap | yap db load copy.yap - --create", in: stage.folder)
        #expect(ended.code == 0 && ended.output.contains("1 inserted"), "\(ended)")
        let copy = try DatabaseFile(path: stage.folder.file("copy.yap"))
        #expect(try copy.storedBytes("huge", inCollection: "plain")?.data == bytes)
        #expect(try copy.storedBytes("huge", inCollection: "plain")?.metadata == [])
    }

    @Test func aDamagedFileIsReportedByEachCommand() async throws {
        let database = try stage.open()
        let rows = (0..<300).map {
            #"{"collection":"n","key":"\#($0)","object":"\#(String(repeating: "x", count: 300))"}"#
        }
        #expect(try await stage.db("load", path, "-", input: rows.joined(separator: "\n")).code == 0)
        try await database.close()
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        // All but the first page, which makes it a database, and the next ones, which say what tables have.
        try file.seek(toOffset: 4096 * 5)
        try file.write(contentsOf: Data(repeating: 0xA5, count: 4096 * 15))
        try file.close()
        try stage.write(rows.joined(separator: "\n"), "rows")
        for words in [
            ["query", path, "n"], ["collections", path], ["dump", path], ["watch", path, "--seconds", "1"],
            ["vacuum", path], ["load", path, stage.folder.file("rows"), "--replace"],
        ] {
            let ended = try await YapProcess.run(["db"] + words, in: stage.folder)
            #expect(
                ended.code == 1 && ended.errors.contains("is damaged"),
                "\(words): \(ended.code) \(ended.errors)")
        }
    }

    private struct SyncedTodo: CloudModel, Equatable {
        var title = ""
        static let recordType = "todo"
        static let fields = CloudFields<SyncedTodo> { $0.field(\.title) }
    }

    /// An app with a sync, which sends nothing while the test's clock stands.
    private func openWithSync(_ cloud: TestCloud) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) { $0.register(SyncedTodo.self, inCollection: "todos") }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(SyncedTodo.self, collection: "todos")], zone: "todos", name: "cloud",
            scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: 1))
        return (database, sync)
    }

    @Test func aFileWithASyncIsNotLoadedIntoWhileTheAppHasItOpen() async throws {
        let cloud = TestCloud()
        let line = #"{"collection":"todos","key":"first","object":{"title":"New"}}"#
        do {
            let (app, sync) = try openWithSync(cloud)
            let refused = try await stage.db("load", path, "-", input: line)
            #expect(refused.code == 4 && refused.errors.contains("has the sync cloud"), "\(refused)")
            #expect(refused.errors.contains("--while-open"), "\(refused)")
            #expect(try rows("phone.yap").isEmpty)
            let forced = try await stage.db("load", path, "-", "--while-open", input: line)
            #expect(
                forced.code == 0 && forced.errors.contains("uploads the rows when the app next"), "\(forced)")
            withExtendedLifetime(sync) {}
            try await app.close()
        }
        #expect(try DatabaseFile(path: path).extensions().map(\.hasMissedCommits) == [true])
        let second = line.replacing("first", with: "second")
        let alone = try await stage.db("load", path, "-", "--json", input: second)
        #expect(alone.code == 0 && alone.output.contains(#""syncs":["cloud"]"#), "\(alone)")

        let (app, sync) = try openWithSync(cloud)
        let queue = try await YapProcess.run(["sync", "inspect", path], in: stage.folder)
        #expect(queue.output.contains(/save todo first in todos[^\n]*: title\n/), "\(queue)")
        #expect(queue.output.contains(/save todo second in todos[^\n]*: title\n/), "\(queue)")
        withExtendedLifetime(sync) {}
        try await app.close()
    }
}
