import Foundation
import Testing

/// `docs/GLOSSARY.md` names places that exist, each term once.
@Suite struct GlossaryTests {
    private static func rows() throws -> [(term: String, places: [String])] {
        let text = try String(
            contentsOf: Repository.root.appending(path: "docs/GLOSSARY.md"), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 3, cells[0] != "term", cells[0] != "stage", !cells[0].hasPrefix("---") else {
                return nil
            }
            return (cells[0], cells[2].matches(of: /`([^`]+)`/).map { String($0.output.1) })
        }
    }

    @Test func everyPlaceExists() throws {
        let missing = try Self.rows().flatMap(\.places).filter {
            !FileManager.default.fileExists(atPath: Repository.root.appending(path: "Sources/\($0)").path)
        }
        #expect(missing.isEmpty, "\(missing)")
    }

    @Test func everyTermIsListedOnceWithAPlace() throws {
        let rows = try Self.rows()
        #expect(rows.count > 60)
        let repeated = Dictionary(grouping: rows, by: \.term).filter { $0.value.count > 1 }.keys
        #expect(repeated.sorted() == [])
        #expect(rows.filter(\.places.isEmpty).map(\.term) == [])
    }
}
