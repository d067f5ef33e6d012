import Foundation
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCommand

/// An app's database for tests of `yap db`, with values of all kinds.
struct DatabaseStage: Sendable {
    struct Todo: Codable, Sendable {
        var title: String
        var list = "home"
        var priority = 0
        var due: Date?
        var isDone = false
        var tags: [String] = []
        var place: [String: String] = [:]
    }

    struct Odd: Codable, Sendable {
        var doubles = [Double.infinity, -.infinity, .nan, -0.0, .leastNonzeroMagnitude, 1e300, 12.0]
        var short: [Float] = [0.1, .nan, -.infinity, 3]
        var large = UInt64.max
        var least = Int.min
        var bytes = Data([0, 255, 10])
        var text = "\u{0}\n\u{1B}[2J\u{202E}\"\\\u{1F600}e\u{301}"
        var names = ["$bytes": "no base64"]
        var nothing: [String: Int] = [:]
        var pair: [Int?] = [nil, 1]
    }

    let folder: TemporaryFolder
    var path: String { folder.file("phone.yap") }

    init() throws { folder = try TemporaryFolder() }

    func open(_ name: String = "phone.yap") throws -> YapDatabase {
        try YapDatabase(path: folder.file(name)) {
            $0.register(Todo.self, metadata: Int?.self, inCollection: "todos")
            $0.register(Odd.self, inCollection: "odd", version: 3)
            let plain = YapDatabaseSerializer<[UInt8]>(encode: { $0 }, decode: { [UInt8]($0) })
            $0.register([UInt8].self, serializer: plain, inCollection: "plain")
            $0.registerMetadata([UInt8].self, serializer: plain, inCollection: "plain")
        }
    }

    /// Rows of all kinds, with names that are no plain words.
    func fill(_ database: YapDatabase) throws {
        try database.newConnection().blocking.readWrite { transaction in
            try transaction.setObject(Odd(), forKey: "a\nb\u{0}\"\u{1B}", inCollection: "odd")
            for (key, bytes) in [
                // A number in more bytes than needed, half a float, a NaN with a payload, keys that are no texts, a key
                // that stands twice, no CBOR at all, nothing.
                ("long", [0x18, 0x01]), ("half", [0xF9, 0x3C, 0x00]),
                ("nan", [0xFB, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1]),
                ("keys", [0xA1, 0x01, 0x02]), ("twice", [0xA2, 0x61, 0x61, 0x01, 0x61, 0x61, 0x02]),
                ("tag", [0xA1, 0x66] + Array("$bytes".utf8) + [0x61, 0x78]), ("foreign", [0xFF, 0x00]),
                ("empty", []),
                ("map", [0xA1, 0x64] + Array("$map".utf8) + [0x80]), ("mark", Array("\u{DB}YapK".utf8)),
            ] as [(String, [UInt8])] {
                try transaction.setObject(bytes, metadata: bytes, forKey: key, inCollection: "plain")
            }
        }
        try fillTodos(database)
    }

    func fillTodos(_ database: YapDatabase) throws {
        try database.newConnection().blocking.readWrite { transaction in
            let day = Date(timeIntervalSince1970: 1_795_651_200)  // 2026-11-26
            let todos = [
                Todo(title: "Milk", priority: 3, due: day, tags: ["a", "b"], place: ["city": "Bern"]),
                Todo(title: "Eggs", priority: 1),
                Todo(title: "Write", list: "work", priority: 5, isDone: true),
                Todo(title: "Call", list: "work", priority: 3, due: day.addingTimeInterval(86_400)),
            ]
            for (number, todo) in todos.enumerated() {
                // The third has a stored nil, which isn't the same as no metadata.
                let metadata: Int?? = .some(number == 2 ? nil : number)
                try transaction.setObject(
                    todo, metadata: metadata, forKey: "\(number)", inCollection: "todos")
            }
        }
    }

    func db(_ words: String..., input: String = "") async throws -> YapProcess.Ended {
        try await YapProcess.run(["db"] + words, in: folder, input: input)
    }

    func write(_ text: String, _ name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: folder.file(name)))
    }
}

/// `yap db watch` as a process, read line by line.
final class WatchProcess: Sendable {
    let id: pid_t
    private let reader: Int32
    private let scratch: TemporaryFolder

    init(_ words: [String], in folder: TemporaryFolder) throws {
        let scratch = try TemporaryFolder()
        let pipe = scratch.file("output")
        guard mkfifo(pipe, 0o600) == 0 else { throw YapProcess.Failure(words: "no pipe: \(errno)") }
        reader = open(pipe, O_RDWR | O_CLOEXEC)
        id = try YapProcess.spawn(
            [try YapProcess.program, "db", "watch"] + words, ["PATH=/usr/bin:/bin"],
            files: ["/dev/null", pipe, scratch.file("errors")])
        self.scratch = scratch
    }

    deinit { close(reader) }

    /// The next line; nil if none comes in 20 seconds.
    func line() async throws -> String? {
        try await YapProcess.onAThread { [reader] in
            var (bytes, byte) = ([UInt8](), UInt8(0))
            while true {
                var poll = pollfd(fd: reader, events: Int16(POLLIN), revents: 0)
                guard Glibc.poll(&poll, 1, 20_000) == 1, read(reader, &byte, 1) == 1 else { return nil }
                if byte == 0x0A { return String(decoding: bytes, as: UTF8.self) }
                bytes.append(byte)
            }
        }
    }

    func end(with signal: Int32) async throws -> Int32 {
        kill(id, signal)
        return try await YapProcess.onAThread { [id] in YapProcess.wait(for: id) }
    }
}
