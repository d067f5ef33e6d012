import Glibc
import System

/// A version of an app on a file, for one life. It finds its cloud in the environment, and numbers its lines.
///
///     VersionsApp VERSION FILE edit [KEY/FIELD/NUMBER...]
///     VersionsApp VERSION FILE show
@main struct VersionsApp {
    private static let linesCount = Lock(0)

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count >= 3 else {
            complain("usage: VersionsApp VERSION FILE edit|show [KEY/FIELD/NUMBER...]")
        }
        do {
            switch words[0] {
            case "1": try await live(Version1.self, words)
            case "2": try await live(Version2.self, words)
            default: try await live(Version3.self, words)
            }
            say("end")
        } catch {
            complain("\(error)")
        }
    }

    private static func live<Note: NoteModel>(_ type: Note.Type, _ words: [String]) async throws {
        let app = try await NoteApp<Note>(path: words[1], say: say)
        switch words[2] {
        case "edit": try await app.edit(words.dropFirst(3).compactMap(edit))
        default: try await app.show()
        }
    }

    private static func edit(_ word: String) -> (key: String, field: String, number: Int)? {
        let parts = word.split(separator: "/").map(String.init)
        guard parts.count == 3, let number = Int(parts[2]) else { return nil }
        return (parts[0], parts[1], number)
    }

    @Sendable private static func say(_ line: String) {
        let number = linesCount.withLock { count in
            count += 1
            return count
        }
        let line = "\(number) \(line)\n"
        guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(2) }
    }

    private static func complain(_ text: String) -> Never {
        _ = (text + "\n").withCString { write(2, $0, strlen($0)) }
        exit(1)
    }
}
