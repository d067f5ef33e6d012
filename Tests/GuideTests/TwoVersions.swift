import CloudKit
import Foundation
import YapCloudKit

/// The models of an app's version 1, of which `docs/guide/CHANGING_A_MODEL.md` changes types and names.
enum Version1 {
    struct Book: CloudModel, Equatable {
        var title = ""
        var rating = 0

        static let recordType = "book"
        static let fields = CloudFields<Book> {
            $0.field(\.title)
            $0.field(\.rating)
        }
    }

    struct Story: CloudModel, Equatable {
        var tags = ""
        var medium = Medium.paper

        static let recordType = "story"
        static let fields = CloudFields<Story> {
            $0.field(\.tags)
            $0.field(\.medium)
        }
    }

    struct Chore: CloudModel, Equatable {
        var title = ""
        var done = false

        static let recordType = "chore"
        static let fields = CloudFields<Chore> {
            $0.field(\.title)
            $0.field(\.done)
        }
    }
}

enum Medium: String, Codable, CloudFieldValue {
    case paper, audio
}

/// The value of a property with two fields. The old one counts while it says something else than the new one would:
/// then the version before has changed it since.
func newer<Old: Equatable, New>(
    _ old: Old?, _ new: New, toOld: (New) -> Old, toNew: (Old) -> New
) -> New {
    guard let old, old != toOld(new) else { return new }
    return toNew(old)
}

/// The same models in version 2, which is in use beside version 1.
enum Version2 {
    struct Book: CloudModel, Equatable {
        var title = ""
        private(set) var rating: Int?  // was `var rating = 0`
        private(set) var exactRating = 0.0  // new

        var stars: Double {
            get { newer(rating, exactRating, toOld: Self.whole, toNew: { Double($0) }) }
            set { (rating, exactRating) = (Self.whole(newValue), newValue) }
        }

        private static func whole(_ stars: Double) -> Int { Int(exactly: stars.rounded()) ?? 0 }

        static let recordType = "book"
        static let fields = CloudFields<Book> {
            $0.field(\.title)
            $0.field(\.rating)
            $0.field(\.exactRating)  // new
        }
    }

    struct Story: CloudModel, Equatable {
        private(set) var tags: String?  // was `var tags = ""`
        private(set) var tagList: [String] = []  // new

        var labels: [String] {
            get { newer(tags, tagList, toOld: Self.text, toNew: Self.list) }
            set { (tags, tagList) = (Self.text(newValue), newValue) }
        }

        private static func text(_ labels: [String]) -> String { labels.joined(separator: ", ") }
        private static func list(_ text: String) -> [String] {
            text.split(separator: ", ").map { String($0) }
        }

        private(set) var medium: Medium?  // was `var medium = Medium.paper`
        private(set) var exactFormat = Format.paperback  // new

        var format: Format {
            get { newer(medium, exactFormat, toOld: \.medium, toNew: { Format($0) }) }
            set { (medium, exactFormat) = (newValue.medium, newValue) }
        }

        static let recordType = "story"
        static let fields = CloudFields<Story> {
            $0.field(\.tagList).merged { Self.merged($0, $1, $2) }
            $0.field(\.tags).merged { base, local, remote in
                guard let local, let remote else { return nil }
                let before = (base ?? nil).map { Self.list($0) }
                return Self.text(Self.merged(before, Self.list(local), Self.list(remote)))
            }
            $0.field(\.medium)
            $0.field(\.exactFormat)
        }

        /// What either device has added is there, and what either has removed is not.
        private static func merged(_ base: [String]?, _ local: [String], _ remote: [String]) -> [String] {
            let base = base ?? []
            let kept = remote.filter { local.contains($0) || !base.contains($0) }
            return kept + local.filter { !remote.contains($0) && !base.contains($0) }
        }
    }

    /// Has another name on the device, and the old one in the cloud.
    struct Chore: CloudModel, Equatable {
        var title = ""
        var isDone = false  // was `done`

        static let recordType = "chore"
        static let fields = CloudFields<Chore> {
            $0.field(\.title)
            $0.field(\.isDone, as: "done")
        }
    }

    /// Has another name in the cloud too.
    struct RenamedChore: CloudModel, Equatable {
        var title = ""
        private(set) var done: Bool?  // was `var done = false`
        private(set) var finished = false  // new

        var isFinished: Bool {
            get { done ?? finished }
            set { (done, finished) = (newValue, newValue) }
        }

        static let recordType = "chore"
        static let fields = CloudFields<RenamedChore> {
            $0.field(\.title)
            $0.field(\.done)
            $0.field(\.finished)  // new
        }
    }
}

enum Format: String, Codable, CloudFieldValue {
    case hardcover, paperback, audiobook

    /// What version 1 shows of it.
    var medium: Medium { self == .audiobook ? .audio : .paper }

    init(_ medium: Medium) { self = medium == .audio ? .audiobook : .paperback }
}

/// Version 3, when version 1 is no longer in use: it reads the old field and clears it.
enum Version3 {
    struct Book: CloudModel, Equatable {
        var title = ""
        private(set) var rating: Int?
        private(set) var exactRating = 0.0

        var stars: Double {
            get { newer(rating, exactRating, toOld: Self.whole, toNew: { Double($0) }) }
            set { (rating, exactRating) = (nil, newValue) }
        }

        private static func whole(_ stars: Double) -> Int { Int(exactly: stars.rounded()) ?? 0 }

        static let recordType = "book"
        static let fields = CloudFields<Book> {
            $0.field(\.title)
            $0.field(\.rating)
            $0.field(\.exactRating)
        }
    }
}

/// Version 4, when all objects have been through version 3: it has one property again.
enum Version4 {
    struct Book: CloudModel, Equatable {
        var title = ""
        var stars = 0.0

        static let recordType = "book"
        static let fields = CloudFields<Book> {
            $0.field(\.title)
            $0.field(\.stars, as: "exactRating")
        }
    }
}
