import Yap
import YapCloudKit

/// The app's third version: `done` has another name on the device, `rank` another type, and `tags` are new.
struct Version3: NoteModel {
    var title = ""
    var text = ""
    var doneCount = 0
    var tags: [String] = []
    /// Stays on the device.
    var rank = 1

    static let recordType = "note"
    static let fields = CloudFields<Version3> {
        $0.field(\.title)
        $0.field(\.text)
        $0.field(\.doneCount, as: "done")
        $0.field(\.tags).mergedAsSet()
    }

    static let version = 3

    static func upgrade(_ old: inout YapDatabaseStoredObject) throws {
        old.rename("done", to: "doneCount")
        if let text = try old.value(String.self, of: "rank") { try old.set(Int(text) ?? 1, for: "rank") }
    }

    mutating func set(_ field: String, to number: Int) {
        switch field {
        case "title": title = "\(number)"
        case "text": text = "\(number)"
        case "tags": tags.append("\(number)")
        default: doneCount = number
        }
    }

    var values: [String: String] {
        [
            "title": title, "text": text, "done": "\(doneCount)",
            "tags": tags.sorted().joined(separator: " "),
            "rank": "\(rank)",
        ]
    }
}
