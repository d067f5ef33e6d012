import Foundation
import Yap

@main struct Agenda {
    static func main() async {
        do {
            try await run(Array(CommandLine.arguments.dropFirst()))
        } catch {
            say("\(error)")
            exit(1)
        }
    }

    static func run(_ words: [String]) async throws {
        guard words.count >= 2 else {
            return say("agenda FILE add LIST TITLE [PRIORITY] | done TITLE | urgent | find WORDS | watch")
        }
        let database = try YapDatabase(url: URL(filePath: words[0])) {
            $0.register(Errand.self, inCollection: "errands")
        }
        try await database.register(openErrands)
        try await database.register(errands)
        try await database.register(errandText)
        let connection = database.newConnection()

        switch words[1] {
        case "add" where words.count >= 4:
            let priority = words.count > 4 ? Int(words[4]) ?? 0 : 0
            let errand = Errand(title: words[3], list: words[2], priority: priority)
            try await connection.readWrite { transaction in
                try transaction.setObject(errand, forKey: UUID().uuidString, inCollection: "errands")
            }
        case "done" where words.count == 3:
            let count = try await connection.readWrite { transaction in
                let found = try transaction[errands].rows(where: {
                    $0.title == words[2] && $0.isDone == false
                })
                for (key, errand) in found {
                    var errand = errand
                    errand.isDone = true
                    try transaction.setObject(errand, forKey: key, inCollection: "errands")
                }
                return found.count
            }
            say("\(count) done")
        case "urgent":
            let urgent = try await connection.read { transaction in
                try transaction[errands].rows(
                    where: { $0.priority >= 3 && $0.isDone == false }, sort: [.by(\.priority, .descending)],
                    limit: 10)
            }
            for (_, errand) in urgent { say("\(errand.priority) \(errand.title) (\(errand.list))") }
        case "find" where words.count == 3:
            let found = try await connection.read { transaction in
                try transaction[errandText].matches(.prefix(words[2]), limit: 10)
            }
            for match in found { say("\(match.object.title) (\(match.object.list))") }
        case "watch":
            var list = YapDatabaseViewSections<String, Errand>()
            for try await change in connection.changes(of: openErrands, sections: .sorted.rows(.first(20))) {
                list.apply(change)
                draw(list)
            }
        default:
            say("agenda knows no \"\(words[1])\" like this")
        }
    }

    /// Draws the list: over the one before in a terminal, below it elsewhere.
    static func draw(_ list: YapDatabaseViewSections<String, Errand>) {
        var lines = isatty(1) == 1 ? ["\u{1B}[2J\u{1B}[H"] : []
        for section in list.sections {
            lines.append("\(section.group) (\(section.rows.count))")
            lines += section.rows.map { "  \($0.priority) \($0.title)" }
        }
        say(lines.joined(separator: "\n"))
    }

    static func say(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }
}
