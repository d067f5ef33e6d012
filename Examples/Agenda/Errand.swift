import Yap

struct Errand: Codable, Sendable {
    var title: String
    var list: String
    var priority = 0
    var isDone = false
}

/// What is to be done, by list: the most urgent first.
let openErrands = YapDatabaseAutoView(
    "openErrands", of: Errand.self, in: "errands", version: "1",
    group: { $0.isDone ? nil : $0.list },
    sort: [.by(\.priority, .descending), .by(\.title)])

/// Finds errands by title, and urgent ones in all lists.
let errands = YapDatabaseSecondaryIndex("errands", of: Errand.self, in: "errands", version: "1") {
    $0.column(\.title)
    $0.column(\.priority)
    $0.column(\.isDone, isIndexed: false)
}

/// Finds errands by the words of their titles.
let errandText = YapDatabaseFullTextSearch("errandText", of: Errand.self, in: "errands", version: "1") {
    $0.column(\.title)
}
