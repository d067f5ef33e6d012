import Foundation
import NotesKit

/// Writes to the terminal without buffering, so that viewers and pipes see each line at once.
enum Output {
    static func line(_ text: String) {
        FileHandle.standardOutput.write(Data((text + "\n").utf8))
    }

    static func complain(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }

    private struct ScreenJSON: Encodable {
        let text: String
        let status: String
        let isUnsent: Bool
    }

    /// Shows the note, and below it the state of its sync.
    static func show(_ screen: NoteScreen, asJSON: Bool) throws {
        guard asJSON else { return line("\(screen.text)\n-- \(screen.words)") }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = ScreenJSON(
            text: screen.text, status: screen.words,
            isUnsent: screen.sync != .synced && screen.sync != .syncing)
        line(String(decoding: try encoder.encode(json), as: UTF8.self))
    }
}
