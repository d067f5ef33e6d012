import YapCloudKit

/// The app's second version: `color` is gone, `text` is new.
struct Version2: NoteModel {
    var title = ""
    var text = ""
    var done = 0
    /// Stays on the device.
    var rank = "1"

    static let recordType = "note"
    static let fields = CloudFields<Version2> {
        $0.field(\.title)
        $0.field(\.text)
        $0.field(\.done)
    }

    mutating func set(_ field: String, to number: Int) {
        switch field {
        case "title": title = "\(number)"
        case "text": text = "\(number)"
        default: done = number
        }
    }

    var values: [String: String] { ["title": title, "text": text, "done": "\(done)", "rank": rank] }
}
