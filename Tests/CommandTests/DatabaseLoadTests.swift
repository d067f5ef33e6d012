import CloudKit
import CloudKitTesting
import Foundation
import SQLite
import SQLiteTestSupport
import System
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
            (#"{"collection":"a","key":"b","object":{"a":1,"a":2}}"#, "the name a occurs twice"),
            (#"{"collection":"a","key":"b","object":"\uD800"}"#, "column 39: half a character"),
            (#"{"collection":"a","key":"b","object":1,"objekt":1}"#, "no member objekt"),
            (#"{"collection":"a","key":"b","object":1,"key":"c"}"#, "key occurs twice"),
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

    @Test func aFileThatMayBeEncryptedIsCalledSo() async throws {
        // An encrypted file has no byte that isn't as if drawn.
        let random = SeededRandomSource(seed: 7)
        let bytes = (0..<3 * 4096).map { _ in UInt8(random.next(in: 0..<256)) }
        try Data(bytes).write(to: URL(filePath: path))
        try stage.write("", "lines")
        for words in [
            ["info", path], ["dump", path], ["check", path], ["load", path, stage.folder.file("lines")],
            ["vacuum", path], ["watch", path, "--seconds", "1"],
        ] {
            let ended = try await YapProcess.run(["db"] + words, in: stage.folder)
            #expect(
                ended.code == 1 && ended.errors.contains("is no database, or an encrypted one"),
                "\(words): \(ended)")
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == Data(bytes))
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

    /// Lines of rows with the keys of a range.
    private func lines(_ keys: Range<Int>, title: String = "Loaded") -> String {
        keys.map { #"{"collection":"todos","key":"\#($0)","object":{"title":"\#(title)"}}"# + "\n" }.joined()
    }

    @Test func aKeyThatStandsTwiceIsFoundBeforeAnythingIsWritten() async throws {
        let snapshot = try stage.open().snapshot
        try stage.write(lines(0..<600) + lines(7..<8), "same")
        let same = try await stage.db("load", path, stage.folder.file("same"), "--dry-run")
        #expect(same.output.contains("600 inserted, 0 replaced, 1 unchanged, 0 skipped"), "\(same)")

        try stage.write(lines(0..<600) + lines(7..<8, title: "Other") + lines(7..<8), "other")
        let other = stage.folder.file("other")
        let refused = try await stage.db("load", path, other)
        #expect(refused.code == 4 && refused.errors.contains("line 601: the key 7 is in todos"), "\(refused)")
        #expect(refused.errors.contains("by an earlier line"), "\(refused)")
        #expect(try DatabaseFile(path: path).snapshot() == snapshot)
        for (option, counts) in [
            ("--skip-existing", "600 inserted, 0 replaced, 1 unchanged, 1 skipped"),
            ("--replace", "600 inserted, 2 replaced, 0 unchanged, 0 skipped"),
        ] {
            let copy = stage.folder.file("copy\(option).yap")
            let said = try await stage.db("load", copy, other, option, "--create", "--dry-run")
            let done = try await stage.db("load", copy, other, option, "--create")
            #expect(said.output.contains(counts) && done.output.contains(counts), "\(said) \(done)")
        }
    }

    @Test func moreRowsThanCanBeCheckedAreRefused() throws {
        try stage.write(lines(0..<3) + lines(0..<4), "lines")
        let console = Console(program: "yap", environment: [:])
        func check(_ rowsMax: Int) throws -> Int {
            let load = RowLoad(
                DeviceFile(path: path), try LineInput(stage.folder.file("lines"), console), .refused,
                Progress(console),
                checkedRowsMax: rowsMax)
            try load.check(isNew: true)
            return load.counts.inserted
        }
        #expect(try check(4) == 4)
        #expect {
            try check(3)
        } throws: { error in
            guard case Failure.failed(let words) = error else { return false }
            return words.hasPrefix("line 7: more than 3 rows can't be checked")
        }
    }

    @Test func anInterruptedLoadReportsTheNumberOfRowsWritten() async throws {
        _ = try stage.open()
        try stage.write(lines(0..<600), "lines")
        // All lines are in the pipe, and the signal is pending, before the program starts. SIGINT is ignored in the
        // background jobs of a shell without job control, and programs inherit that: the default is restored first.
        let ended = try await YapProcess.shell(
            """
            mkfifo pipe && exec 3<>pipe && cat lines >&3 &&
            env --default-signal=INT --block-signal=INT bash -c 'kill -INT $$; exec yap db load phone.yap - <&3'
            """, in: stage.folder)
        #expect(ended.code == 1 && ended.errors.contains("interrupted"), "\(ended)")
        #expect(ended.errors.contains(". The first 500 rows of the lines are in the file."), "\(ended)")
        #expect(try rows("phone.yap").count == 500)
    }

    @Test func aManualViewStaysReadableWhileTheAppHasTheFileOpen() async throws {
        let database = try stage.open()
        let board = YapDatabaseManualView(
            "board", of: DatabaseStage.Todo.self, in: "todos", groups: String.self, version: "1")
        try await database.register(board)
        try stage.fillTodos(database)
        let connection = database.newConnection()
        try await connection.readWrite { _ = try $0[board].append("0", to: "now") }
        try stage.write(try await stage.db("dump", path).output, "dump")
        try stage.write(lines(9..<10), "lines")
        for load in ["yap db load phone.yap lines", "cat lines | yap db load phone.yap -"] {
            let refused = try await YapProcess.shell(load, in: stage.folder)
            #expect(
                refused.code == 4 && refused.errors.contains("board (YapDatabaseManualView)"), "\(refused)")
            #expect(refused.errors.contains("can't catch up") && refused.errors.contains("--while-open"))
            // What writes nothing isn't refused.
            let same = try await YapProcess.shell(load.replacing("lines", with: "dump"), in: stage.folder)
            #expect(same.code == 0 && same.output.contains("4 unchanged"), "\(same)")
        }
        #expect(try rows("phone.yap").count == 4)
        try await connection.readWrite { try $0.touchObject(forKey: "0", inCollection: "todos") }
        #expect(try await connection.read { try $0[board].count(in: "now") } == 1)

        let forced = try await stage.db("load", path, stage.folder.file("lines"), "--while-open")
        #expect(forced.code == 0 && forced.output.contains("1 inserted"), "\(forced)")
        await #expect(throws: YapDatabaseError.self) {
            _ = try await connection.read { try $0[board].count(in: "now") }
        }
        try await database.close()
        try stage.write(lines(10..<11), "lines")
        let alone = try await stage.db("load", path, stage.folder.file("lines"))
        #expect(alone.code == 0 && alone.output.contains("1 inserted"), "\(alone)")
    }

    @Test func noMoreRowsAreLoadedBesideAnAppThanItsIndexCatchesUpWith() async throws {
        let database = try stage.open()
        let index = YapDatabaseSecondaryIndex("lists", of: DatabaseStage.Todo.self, in: "todos", version: "1")
        {
            $0.column(\.list)
        }
        try await database.register(index)
        #expect(try await stage.db("load", path, "-", input: lines(0..<1)).code == 0)
        // As if 99,989 other rows had been written without the index.
        try Connection(path: path).execute(
            """
            WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 99989)
            INSERT INTO changes2 (row, collection, key) SELECT n + 1000, 'todos', 'gone ' || n FROM numbers
            """)
        try stage.write(lines(1..<12), "eleven")
        for load in ["yap db load phone.yap eleven", "cat eleven | yap db load phone.yap -"] {
            let refused = try await YapProcess.shell(load, in: stage.folder)
            #expect(
                refused.code == 4 && refused.errors.contains("which catches up with at most 10 more rows"),
                "\(refused)")
        }
        #expect(try rows("phone.yap").count == 1)
        let loaded = try await stage.db("load", path, "-", input: lines(1..<11))
        #expect(loaded.code == 0 && loaded.output.contains("10 inserted"), "\(loaded)")
        try stage.write(lines(11..<12), "eleven")
        let full = try await stage.db("load", path, stage.folder.file("eleven"))
        #expect(full.code == 4 && full.errors.contains("at most 0 more rows"), "\(full)")
        try await database.close()
        #expect(try await stage.db("load", path, stage.folder.file("eleven")).code == 0)
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
