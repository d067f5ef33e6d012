import CloudKit
import YapCloudKit

/// The model of these tests.
struct Todo: Codable, Sendable, Equatable {
    var title = ""
    var isDone = false
    var priority = 0
    var note: String?
    /// Not a field: it stays on the device.
    var draft = ""
}

extension Todo: CloudModel {
    static let recordType = "todo"
    static let fields = CloudFields<Todo> {
        $0.field(\.title)
        $0.field(\.isDone, as: "done")
        $0.field(\.priority).merged { _, local, remote in max(local, remote) }
        $0.field(\.note)
    }
}
