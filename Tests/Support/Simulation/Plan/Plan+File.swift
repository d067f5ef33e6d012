import Foundation

/// Plans as files: how a failure is kept.
extension Plan {
    /// Reads a plan.
    /// - Throws: `DecodingError` for what is none.
    package init(contentsOf url: URL) throws {
        self = try JSONDecoder().decode(Plan.self, from: Data(contentsOf: url))
    }

    /// Writes the plan, in a form in which two of them can be compared line by line.
    package func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: url)
    }
}
