import CloudKit
import Foundation
import Yap
import YapCloudKit

struct Bookmark: CloudModel, Equatable {
    var title = ""
    var tags: [String] = []
    var kind = Kind.article
    var rating = 0
    var readAt: Date?
    var image: URL?
    var scrolledTo = 0.0

    static let recordType = "bookmark"
    static let fields = CloudFields<Bookmark> {
        $0.field(\.title)
        $0.field(\.tags).mergedAsSet()
        $0.field(\.kind)
        $0.field(\.rating).merged { base, local, remote in max(local, remote) }
        $0.field(\.readAt, as: "read")
        $0.field(
            \.image, toCloud: { $0?.absoluteString },
            fromCloud: { ($0 as? String).map { URL(string: $0) } })
    }
}

enum Kind: String, Codable, CloudFieldValue {
    case article, video, recipe
}

/// What stays on the device.
struct Draft: Codable, Sendable, Equatable {
    var text = ""
}
