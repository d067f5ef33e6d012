import YapCloudKit

/// What the killed device and the other one of its user keep the same.
package struct Item: Codable, Sendable, Equatable {
    /// The number of the commit that changed it last; only the killed device's commits have one.
    package var count = 0
    /// Both devices change it.
    package var text = ""
    /// Only the other device changes it.
    package var note: String?
    /// A field of the later version of the app.
    package var extra: String?

    package init() {}

    package init(count: Int, text: String) {
        self.count = count
        self.text = text
    }
}

extension Item: CloudModel {
    package static let recordType = "item"
    package static let fields = CloudFields<Item> {
        $0.field(\.count)
        $0.field(\.text)
        $0.field(\.note)
        $0.field(\.extra)
    }
}

/// The item as another version of the app has it: one property fewer is a field.
package struct EarlierItem: Codable, Sendable, Equatable {
    package var count = 0
    package var text = ""
    package var note: String?
    package var extra: String?

    package init() {}
}

extension EarlierItem: CloudModel {
    package static let recordType = "item"
    package static let fields = CloudFields<EarlierItem> {
        $0.field(\.count)
        $0.field(\.text)
        $0.field(\.note)
    }
}
