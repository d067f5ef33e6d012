import YapCloudKit

/// A list to which devices add, none of which takes anything out: each tag that was added is there at the end.
package struct TagList: Codable, Sendable, Equatable {
    package var text = ""
    /// A property since version 2 of the app.
    package var tags: [String] = []

    package init() {}

    package init(text: String, tags: [String]) {
        (self.text, self.tags) = (text, tags)
    }
}

extension TagList: CloudModel {
    package static let recordType = "list"
    package static let fields = CloudFields<TagList> {
        $0.field(\.text)
        $0.field(\.tags).mergedAsSet()
    }
}

/// The list as version 1 of the app had it: its type knows no tags.
package struct EarlierTagList: Codable, Sendable, Equatable {
    package var text = ""

    package init() {}

    package init(text: String) {
        self.text = text
    }
}

extension EarlierTagList: CloudModel {
    package static let recordType = "list"
    package static let fields = CloudFields<EarlierTagList> { $0.field(\.text) }
}
