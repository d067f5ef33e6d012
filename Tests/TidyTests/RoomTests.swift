import Testing

/// The table of rooms in docs/ARCHITECTURE.md and the targets of Package.swift.
@Suite struct RoomTests {
    private struct Room {
        let floor: Int
        let imports: Set<String>
    }

    @Test func theTableOfRoomsHasTheImportsOfThePackage() throws {
        let table = Self.table(try #require(Repository.text(of: "docs/ARCHITECTURE.md")))
        let package = Self.dependencies(try #require(Repository.text(of: "Package.swift")))
        let rooms = Repository.folders(in: "Sources")
        #expect(rooms.count > 20)
        for room in rooms {
            let row = try #require(table[room], "the table has no row for \(room)")
            let dependencies = try #require(package[room], "Package.swift has no target \(room)")
            #expect(row.imports.subtracting(dependencies).isEmpty, "\(room): only in the table")
            #expect(dependencies.subtracting(row.imports).isEmpty, "\(room): only in Package.swift")
        }
        let named = table.keys.filter { !$0.contains("/") && $0 != "Benchmarks" }
        #expect(Set(named).subtracting(rooms).isEmpty, "rooms of the table without a folder in Sources")
    }

    @Test func noRoomImportsFromAFloorAbove() throws {
        let table = Self.table(try #require(Repository.text(of: "docs/ARCHITECTURE.md")))
        for (name, room) in table {
            for other in room.imports {
                let floor = try #require(table[other]?.floor, "\(name) imports \(other), which has no row")
                #expect(floor <= room.floor, "\(name) imports \(other)")
            }
        }
    }

    @Test func tableAndPackageAreReadAsTheyAreWritten() {
        let table = Self.table(
            """
            | floor | room | what it is | imports |
            |---|---|---|---|
            | 0 | `A`, `B` | `C` isn't imported | |
            | 2 | `D` | more | `A`, `B` |
            """)
        #expect(table.mapValues(\.imports) == ["A": [], "B": [], "D": ["A", "B"]])
        #expect(table.mapValues(\.floor) == ["A": 0, "B": 0, "D": 2])
        let package = Self.dependencies(
            """
            func room(_ name: String) {}
            .library(name: "P", targets: ["A"]),
            .target(name: "A", exclude: ["css"]),
            .systemLibrary(name: "B", pkgConfig: "b"),
            room("C"),
            room(
                "D", ["A",
                "B"]),
            .executableTarget(
                name: "E",
                dependencies: [
                    "A", "D",
                ],
                swiftSettings: settings),
            """)
        #expect(package == ["A": [], "B": [], "C": [], "D": ["A", "B"], "E": ["A", "D"]])
    }

    private static func table(_ text: String) -> [String: Room] {
        var rooms = [String: Room]()
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 6, let floor = Int(cells[1].trimmingPrefix(" ").prefix { $0 != " " }) else {
                continue
            }
            for name in codeWords(cells[2]) {
                rooms[name] = Room(floor: floor, imports: Set(codeWords(cells[4])))
            }
        }
        return rooms
    }

    private static func codeWords(_ text: Substring) -> [String] {
        text.matches(of: /`([^`]+)`/).map { String($0.output.1) }
    }

    /// The dependencies of each target, by name. A call of `room` or of a target's initializer has the name first, and
    /// then the dependencies, if it has any.
    private static func dependencies(_ text: String) -> [String: Set<String>] {
        let pattern =
            #/
            (?: \broom\( | (?:target|executableTarget|systemLibrary)\( \s* name: )
            \s* "(\w+)" (?: , \s* (?: dependencies: \s* )? \[ ([^\]]*) \] )?
            /#
        var targets = [String: Set<String>]()
        for match in text.matches(of: pattern) {
            let names = (match.output.2 ?? "").matches(of: /"(\w+)"/).map { String($0.output.1) }
            targets[String(match.output.1)] = Set(names)
        }
        return targets
    }
}
