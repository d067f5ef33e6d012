import Dispatch
import System
import TestSeed
import Testing

@testable import Yap

/// How a process heals an extension that another one left behind. Two instances on one file act as two processes.
struct ExtensionHealingTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    /// Without the extension.
    private let writing: YapDatabaseConnection
    private let log = Log()

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
        connection = database.newConnection()
        try database.blocking.register(RowMirror(log: log), withName: "mirror")
        database.healing.isEnabled = false
        writing = try folder.open().newConnection()
    }

    private func write(_ keys: some Sequence<Int>, _ title: String = "theirs") throws {
        try writing.blocking.readWrite { transaction in
            for key in keys { try transaction.set(title, "\(key)") }
        }
    }

    @Test func theNextWriteHealsAnExtensionThatAnotherProcessLeftBehind() throws {
        let early = database.newConnection()
        func count() throws -> Int {
            try early.blocking.read { try $0.ext("mirror", as: RowMirror.self).lines().count }
        }
        #expect(try count() == 0)
        try write([1, 2])
        #expect(code { _ = try count() } == .extensionNotRegistered)
        try connection.blocking.readWrite { transaction in
            // Before the closure runs.
            #expect(try transaction.ext("mirror", as: RowMirror.self).lines().count == 2)
            try transaction.set("ours", "3")
        }
        #expect(try count() == 3)
        #expect(try database.isMirrored() == true)
        #expect(try database.missedChangesCount() == 0)
        try write([1])
        try writing.blocking.readWrite { try $0.removeObject(forKey: "3", inCollection: "todos") }
        // A write that fails heals, too.
        #expect(throws: Refused.self) { try connection.blocking.readWrite { _ in throw Refused() } }
        #expect(try count() == 2)
        #expect(try database.isMirrored() == true)
    }

    @Test func writesThatShareACommitHealFirst() async throws {
        try write([1, 2])
        try await connection.readWrite { try $0.set("ours", "3") }
        #expect(try database.isMirrored() == true)
    }

    @Test func manyMissedChangesAreHealedByAsManyWritesAsItTakes() throws {
        let rowsCount = ExtensionCatchUp.batchEntriesMax * 2
        try write(0..<rowsCount)
        try connection.blocking.readWrite { _ in }
        #expect(try database.isMirrored() == nil)
        #expect(log.lines.count == 1 + rowsCount / 2)
        try connection.blocking.readWrite { try $0.set("ours", "1") }
        #expect(try database.isMirrored() == true)
    }

    @Test func anExtensionThatCannotBeHealedFailsNoWriteAndIsNotRead() throws {
        let failing = try folder.open()
        failing.healing.isEnabled = false
        let fails = Log()
        try failing.blocking.register(
            RowMirror(log: log) { if !fails.lines.isEmpty { throw Refused() } }, withName: "mirror")
        fails.add("")
        try write([1])
        log.add("before")
        for number in 1...2 {
            try failing.newConnection().blocking.readWrite { try $0.set("ours", "ours \(number)") }
        }
        #expect(try failing.isMirrored() == nil)
        // Not at each write.
        #expect(log.lines.suffix(2) == ["before", "filled 1"])
        #expect(
            try failing.newConnection().blocking.read { try $0.allKeys(inCollection: "todos").count } == 3)
        try database.newConnection().blocking.readWrite { _ in }
        #expect(try database.isMirrored() == true)
        #expect(try failing.isMirrored() == true)
    }

    @Test func whatIsUnknownIsNotHealedAndNotRead() throws {
        try write([1])
        try writing.blocking.readWrite { try $0.removeAllObjectsInAllCollections() }
        try connection.blocking.readWrite { try $0.set("ours", "2") }
        #expect(try database.isMirrored() == nil)
        let again = try folder.open()
        try again.blocking.register(RowMirror(), withName: "mirror")
        #expect(try again.isMirrored() == true)
        #expect(try database.isMirrored() == true)
    }

    @Test func anExtensionOfAnotherVersionIsNotHealed() throws {
        let later = try folder.open()
        try later.blocking.register(RowMirror(versionTag: "2"), withName: "mirror")
        try write([1])
        try connection.blocking.readWrite { _ in }
        #expect(try database.missedChangesCount() == 1)
        try connection.blocking.readWrite { try $0.set("ours", "2") }
        #expect(try database.isMirrored() == nil)
        #expect(try later.isMirrored() == nil)
        try later.newConnection().blocking.readWrite { _ in }
        #expect(try later.isMirrored() == true)
    }

    @Test func aReadThatFindsAnExtensionLeftBehindHasItHealed() throws {
        database.healing.isEnabled = true
        let rowsCount = ExtensionCatchUp.batchEntriesMax * 2 + 1
        let before = database.snapshot
        try write(0..<rowsCount)
        #expect(try database.isMirrored() == nil)
        // Each batch puts the next one at the end of the queue.
        for _ in 1...3 { try waitForTheWritingThread() }
        #expect(try database.isMirrored() == true)
        #expect(database.snapshot == before + 4)
        // Also the next time.
        try write([1], "again")
        #expect(try database.isMirrored() == nil)
        try waitForTheWritingThread()
        #expect(try database.isMirrored() == true)
    }

    private func waitForTheWritingThread() throws {
        let isDone = DispatchSemaphore(value: 0)
        database.shell.write(ExclusiveRequest({ _ in }, answer: { _ in isDone.signal() }), database.writer)
        isDone.wait()
    }

    // MARK: At random

    /// Writes at random of processes with and without extensions, which come, go, crash and catch up meanwhile.
    @Test(arguments: 1...20) func extensionsEqualTheRowsWhicheverProcessWritesThem(seed: UInt64) throws {
        var world = try RandomWorld(folder, seed: seed)
        for _ in 0..<80 { try world.step() }
        try world.end()
    }
}

/// Two processes, of which one has extensions at times.
private struct RandomWorld {
    private let folder: TestFolder
    private let random: SeededRandomSource
    private let without: YapDatabase
    private var with: YapDatabase
    private var registrations: [SteppedRegistration] = []

    init(_ folder: TestFolder, seed: UInt64) throws {
        self.folder = folder
        random = SeededRandomSource(seed: seed &* TestSeed.value)
        without = try folder.open()
        with = try folder.open()
        with.healing.isEnabled = false
        let rowsMax = random.next(in: 0..<3) == 0 ? 30 : 300
        try without.writer { $0.store.missedChangeLog.rowsMax = rowsMax }
    }

    private static let index = YapDatabaseSecondaryIndex("index", of: Todo.self, in: "todos", version: "1") {
        $0.column(\.title)
    }

    mutating func step() throws {
        switch random.next(in: 0..<20) {
        case 0: try restart()
        case 1..<4: try register()
        case 4..<8: for registration in registrations { _ = try registration.next() }
        case 8..<13: try write(with)
        default: try write(without)
        }
        try check(mustRead: false)
    }

    mutating func end() throws {
        // What is unknown is not healed, but filled at the next registration.
        try restart()
        try register()
        for registration in registrations { try registration.finish() }
        try check(mustRead: true)
    }

    /// As after a crash.
    private mutating func restart() throws {
        registrations = []
        with = try folder.open()
        with.healing.isEnabled = false
    }

    private mutating func register() throws {
        let names = try with.writer { core in
            core.log.registry.map(\.name) + core.store.filling.map(\.registered.name)
        }
        if !names.contains("mirror") {
            registrations.append(try SteppedRegistration(RowMirror(), "mirror", in: with))
        }
        if !names.contains("named") {
            let named = RowMirror(["todos"], isByName: true)
            registrations.append(try SteppedRegistration(named, "named", in: with))
        }
        if !names.contains("index") {
            registrations.append(try SteppedRegistration(Self.index, "index", in: with))
        }
    }

    private func write(_ database: YapDatabase) throws {
        do {
            try database.newConnection().blocking.readWrite { transaction in
                for _ in 0..<random.next(in: 1..<(random.next(in: 0..<8) == 0 ? 320 : 6)) {
                    try change(transaction)
                }
                if random.next(in: 0..<8) == 0 { throw Refused() }
            }
        } catch is Refused {}
    }

    private func change(_ transaction: YapDatabaseReadWriteTransaction) throws {
        // Few keys, so that rowids are used again.
        let key = "\(random.next(in: 0..<40))"
        let text = "\(random.next(in: 0..<1000))"
        switch random.next(in: 0..<60) {
        case 0: try transaction.removeAllObjects(inCollection: "notes")
        case 1: try transaction.removeAllObjects(inCollection: "todos")
        case 2: if random.next(in: 0..<4) == 0 { try transaction.removeAllObjectsInAllCollections() }
        case 3..<14: try transaction.removeObject(forKey: key, inCollection: "todos")
        case 14..<24: try transaction.removeObject(forKey: key, inCollection: "notes")
        case 24..<36: try transaction.setObject(text, forKey: key, inCollection: "notes")
        case 36..<40: try transaction.replaceObject(Todo(title: text), forKey: key, inCollection: "todos")
        case 40..<42: try transaction.touchRow(forKey: key, inCollection: "todos")
        default: try transaction.set(text, "\(random.next(in: 0..<60))")
        }
    }

    private func check(mustRead: Bool) throws {
        for (name, collections) in [("mirror", ["notes", "todos"]), ("named", ["todos"])] {
            let isMirrored = try with.isMirrored(name, collections)
            #expect(isMirrored != false && (!mustRead || isMirrored == true), "\(name)")
        }
        try with.newConnection().blocking.read { transaction in
            guard let index = try? transaction[Self.index] else {
                #expect(!mustRead)
                return
            }
            let found = try index.rows().map { "\($0.key) \($0.object.title)" }.sorted()
            let all = Array(try transaction.objects(Todo.self, inCollection: "todos"))
            #expect(found == all.map { "\($0.key) \($0.object.title)" }.sorted())
            #expect(try index.count(where: { $0.title != "" }) == all.count)
            for row in all.prefix(5) {
                #expect(try index.keys(where: { $0.title == row.object.title }).contains(row.key))
            }
        }
    }
}
