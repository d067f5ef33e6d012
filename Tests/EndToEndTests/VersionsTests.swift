import Foundation
import Glibc
import ProcessSupport
import SQLiteTestSupport
import System
import TestSeed
import Testing

/// Three versions of an app take turns on the files of two devices, with fields added, removed, renamed and retyped.
@Suite(.serialized) struct VersionsTests {
    /// After each version every other one, in both directions.
    private static let order = [1, 2, 3, 1, 3, 2, 1]
    /// What each version has, by the names in the cloud.
    private static let fields: [Int: Set<String>] = [
        1: ["title", "color", "done"], 2: ["title", "text", "done"], 3: ["title", "text", "done", "tags"],
    ]

    /// The first one failed before scenario 161 was mended, in one try of seven.
    @Test(arguments: [369_832] + TestSeed.values(count: 4))
    func everyOrderOfVersionsLosesNothingAndStopsNothing(seed: UInt64) async throws {
        print("seed \(seed)")
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let random = SeededRandomSource(seed: seed)
        let server = try await YapServer(programs: Stage.programs, folder: folder.file("server"))
        try await server.addAccount(Stage.user)
        try await server.start()
        var phone = try await VersionedDevice("phone", ["title", "text"], folder, server)
        var laptop = try await VersionedDevice("laptop", ["color", "done", "tags"], folder, server)
        try await phone.makeNotes()
        _ = try await laptop.show(version: 1)
        for (life, version) in Self.order.enumerated() {
            let other = Self.order[(life + 2) % Self.order.count]
            try await phone.live(version, fields: Self.fields, life: life, random)
            try await laptop.live(other, fields: Self.fields, life: life, random)
        }
        for _ in 0..<2 {
            _ = try await phone.show(version: 3)
            _ = try await laptop.show(version: 3)
        }
        let here = try await phone.show(version: 3), there = try await laptop.show(version: 3)
        // What stays on a device is that device's own.
        let differing = Set(here.keys).union(there.keys).filter {
            here[$0] != there[$0] && !$0.hasSuffix(" rank")
        }
        #expect(
            differing.isEmpty,
            "seed \(seed): \(differing.map { "\($0): \(here[$0] ?? "-"), \(there[$0] ?? "-")" })")
        for device in [phone, laptop] {
            for line in device.missing(in: here) { Issue.record("seed \(seed), \(device.name): \(line)") }
        }
        // The first version's colors are in the cloud, and there again when that version is.
        let first = try await laptop.show(version: 1)
        for line in laptop.missing(in: first, only: "color") {
            Issue.record("seed \(seed), version 1: \(line)")
        }
        #expect(laptop.committedCount(of: "color") > 0)
        let dropped = phone.droppedCount + laptop.droppedCount
        let commits = phone.commitsCount + laptop.commitsCount
        #expect(dropped * 4 < commits, "seed \(seed): \(dropped) of \(commits) were dropped")
        _ = await server.stop()
    }
}

/// A device with a file, on which versions of the app live one after the other.
private struct VersionedDevice {
    let name: String
    /// The fields that only this device changes: what two change at once is for a rule to decide.
    private let ownFields: Set<String>
    private let path: String
    private let environment: [String: String]
    /// The last value that was committed, by key and field; and those that may have been, of a life that was killed.
    private var committed: [String: String] = [:]
    private var maybe: [String: Set<String>] = [:]
    private(set) var commitsCount = 0
    /// What lost against another device's value, as the merge log says, by key and field.
    private var dropped: [String: Set<String>] = [:]

    init(_ name: String, _ ownFields: Set<String>, _ folder: TemporaryFolder, _ server: YapServer)
        async throws
    {
        self.name = name
        self.ownFields = ownFields
        path = folder.file(name + ".yap")
        let address = "http://127.0.0.1:\(server.port)"
        environment = [
            "XDG_CONFIG_HOME": folder.file(name), "CLOUDKIT_SERVER": address,
            "CLOUDKIT_CONTAINER": YapServer.container, "CLOUDKIT_API_TOKEN": server.apiToken,
            "CLOUDKIT_DEVICE_ID": name,
        ]
        _ = try await YapServer.run(
            Stage.programs + "/yap",
            [
                "login", "--server", address, "--container", YapServer.container, "--api-token",
                server.apiToken,
                "--account", Stage.user, "--password-stdin",
            ], environment: environment, input: YapServer.password(Stage.user))
    }

    /// A life of the laptop's first version that isn't killed and sets each field, so that each has a value to lose.
    private static let wholeLife = 5

    /// Makes all notes, before the other device does.
    mutating func makeNotes() async throws {
        let edits = (0..<3).map { "note\($0)/title/\($0)" }
        let output = try await YapServer.run(
            Stage.programs + "/VersionsApp", ["1", path, "edit"] + edits, environment: environment)
        note(output)
    }

    /// A life of a version: edits, with syncs between them; every second life is killed at a line of its output.
    mutating func live(
        _ version: Int, fields: [Int: Set<String>], life: Int, _ random: SeededRandomSource
    ) async throws {
        let known = ownFields.intersection(fields[version] ?? []).sorted()
        guard !known.isEmpty else { return }
        var edits: [String] = []
        for number in 0..<6 {
            let key = "note\(random.next(in: 0..<3))"
            let drawn = known[random.next(in: 0..<known.count)]
            let field = life == Self.wholeLife && number < known.count ? known[number] : drawn
            edits.append("\(key)/\(field)/\((life + 1) * 100 + number)")
        }
        let program = try Program(
            Stage.programs + "/VersionsApp", ["\(version)", path, "edit"] + edits, environment: environment)
        let isKilled = random.next(in: 0..<2) == 0 && life != Self.wholeLife
        if isKilled {
            let number = random.next(in: 1..<15)
            _ = await program.line { $0.hasPrefix("\(number) ") }
            program.signal(SIGKILL)
        }
        let result = await program.result()
        let hasEnded = result.end == .exit(0) || (isKilled && result.end == .signal(SIGKILL))
        #expect(hasEnded, "\(name), version \(version): \(result.end) \(result.errors)")
        note(result.output)
    }

    private mutating func note(_ output: String) {
        for line in output.split(separator: "\n") { note(line.split(separator: " ").map(String.init)) }
    }

    private mutating func note(_ words: [String]) {
        guard words.count >= 5 else { return }
        let place = "\(words[2]) \(words[3])"
        switch words[1] {
        case "dropped":
            dropped[place, default: []].formUnion(
                words[4...].map { $0.trimmingCharacters(in: CharacterSet(charactersIn: "[],\"")) })
        case "begins": maybe[place, default: []].insert(words[4])
        case "committed":
            commitsCount += 1
            // A list has all of them.
            let isList = words[3] == "tags"
            committed[place] =
                isList ? [committed[place], words[4]].compactMap(\.self).joined(separator: " ") : words[4]
            maybe[place] = nil
        default: break
        }
    }

    /// Syncs, and returns all values by key and field.
    mutating func show(version: Int) async throws -> [String: String] {
        let output = try await YapServer.run(
            Stage.programs + "/VersionsApp", ["\(version)", path, "show"], environment: environment)
        note(output)
        var values: [String: String] = [:]
        for line in output.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.count >= 4, words[1] == "value" else { continue }
            values["\(words[2]) \(words[3])"] = words.dropFirst(4).joined(separator: " ")
        }
        return values
    }

    /// What was committed here, isn't among these values, and isn't in the merge log either.
    func missing(in values: [String: String], only field: String? = nil) -> [String] {
        committed.compactMap { place, value in
            if let field, !place.hasSuffix(" " + field) { return nil }
            if field == nil, place.hasSuffix(" color") { return nil }
            let found = values[place] ?? ""
            if maybe[place]?.contains(found) == true { return nil }
            // The app was killed before it could say that a later value was committed, which took this one's place, and
            // lost.
            if maybe[place]?.isDisjoint(with: dropped[place] ?? []) == false { return nil }
            let lost = Set(value.split(separator: " ").map(String.init))
                .subtracting(found.split(separator: " ").map(String.init))
                .subtracting(dropped[place] ?? [])
            return lost.isEmpty ? nil : "\(place): \(lost.sorted()) of \(value) is not in \(found)"
        }
    }

    var droppedCount: Int { dropped.values.reduce(0) { $0 + $1.count } }

    func committedCount(of field: String) -> Int { committed.keys.count { $0.hasSuffix(" " + field) } }
}
