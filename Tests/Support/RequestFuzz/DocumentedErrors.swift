import Foundation

/// The codes of errors with their statuses, as docs/PROTOCOL.md tells them.
public struct DocumentedErrors: Sendable {
    /// The status by the code.
    public let statuses: [String: Int]

    /// Reads the section "Errors" of the page: `CODE`, a space, and the status.
    public init(page: String) {
        var statuses: [String: Int] = [:]
        let section = page.components(separatedBy: "\n## Errors\n").dropFirst().first ?? ""
        let words = section.split { " ,.;:\n".contains($0) }
        for (code, status) in zip(words, words.dropFirst()) {
            guard let status = Int(status), 400..<600 ~= status,
                code.allSatisfy({ $0.isUppercase || $0 == "_" })
            else { continue }
            statuses[String(code)] = status
        }
        self.statuses = statuses
    }
}
