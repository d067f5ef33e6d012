import Foundation
import Testing

/// The patches in Tests/Mutants put bugs back for `make mutants`. One whose place has changed is seen here, without
/// building it.
@Suite struct MutantPatchTests {
    /// A place that a patch changes.
    struct Hunk: Equatable {
        var path: String
        /// The lines as they have to be there: those that stay, and those that the patch removes.
        var before: [String] = []
        /// The lines as the patch leaves them.
        var after: [String] = []
    }

    /// The hunks of a unified diff.
    static func hunks(of patch: String) -> [Hunk] {
        var hunks: [Hunk] = []
        var path = ""
        for line in patch.split(separator: "\n", omittingEmptySubsequences: false) {
            let rest = String(line.dropFirst())
            switch line.first {
            case "-" where line.hasPrefix("--- a/"): path = String(line.dropFirst(6))
            case "+" where line.hasPrefix("+++ b/"): break
            case "@": hunks.append(Hunk(path: path))
            case " ":
                hunks[hunks.count - 1].before.append(rest)
                hunks[hunks.count - 1].after.append(rest)
            case "-": hunks[hunks.count - 1].before.append(rest)
            case "+": hunks[hunks.count - 1].after.append(rest)
            default: break
            }
        }
        return hunks
    }

    @Test func eachPatchStillApplies() throws {
        let folder = Repository.root.appending(path: "Tests/Mutants")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix(".patch") }.sorted()
        #expect(names.count >= 11)
        for name in names {
            let patch = try #require(Repository.text(of: "Tests/Mutants/\(name)"))
            #expect(patch.hasPrefix("# "), "\(name) says in its first line what the bug is")
            let hunks = Self.hunks(of: patch)
            #expect(!hunks.isEmpty, "\(name)")
            for hunk in hunks {
                #expect(hunk.path.hasPrefix("Sources/"), "\(name)")
                let text = try #require(Repository.text(of: hunk.path), "\(name) changes \(hunk.path)")
                let place = "\n" + hunk.before.joined(separator: "\n") + "\n"
                let places = ("\n" + text).ranges(of: place)
                #expect(places.count == 1, "\(name): its lines are in \(hunk.path) \(places.count) times")
                #expect(hunk.before != hunk.after, "\(name)")
            }
        }
    }

    @Test func theHunksOfAPatchAreRead() {
        let patch = """
            # A sentence.
            --- a/Sources/A.swift
            +++ b/Sources/A.swift
            @@ -1,3 +1,3 @@
             one
            -two
            +three
             four
            @@ -9,2 +9,1 @@
             nine
            -ten

            """
        #expect(
            Self.hunks(of: patch) == [
                Hunk(
                    path: "Sources/A.swift", before: ["one", "two", "four"], after: ["one", "three", "four"]),
                Hunk(path: "Sources/A.swift", before: ["nine", "ten"], after: ["nine"]),
            ])
    }
}
