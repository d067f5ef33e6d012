import YapCloudKit

/// The app's first version.
struct Version1: NoteModel {
    var title = ""
    var color = ""
    var done = 0
    /// Stays on the device.
    var rank = "1"

    static let recordType = "note"
    static let fields = CloudFields<Version1> {
        $0.field(\.title)
        $0.field(\.color)
        $0.field(\.done)
    }

    mutating func set(_ field: String, to number: Int) {
        switch field {
        case "title": title = "\(number)"
        case "color": color = "\(number)"
        default: done = number
        }
    }

    var values: [String: String] { ["title": title, "color": color, "done": "\(done)", "rank": rank] }
}
