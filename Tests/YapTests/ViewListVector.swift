import Testing

@testable import Yap

/// Operations on the groups of a list, the changes that they amount to, and what the list then shows.
struct ViewListVector: Sendable, CustomTestStringConvertible {
    typealias Mappings = YapDatabaseViewMappings<String>

    let name: String
    let operations: [ViewStage.Operation]
    let sections: [String]
    let rows: [String]
    let shown: [String]

    init(
        _ name: String, _ operations: [ViewStage.Operation], sections: [String] = [], _ rows: [String],
        shown: [String]
    ) {
        self.name = name
        self.operations = operations
        self.sections = sections
        self.rows = rows
        self.shown = shown
    }

    var testDescription: String { name }

    func check(_ mappings: Mappings, _ groups: [String: String]) {
        var stage = ViewStage(mappings, groups)
        let changes = stage.play(operations)
        #expect(ViewStage.words(changes.sections) == sections)
        #expect(ViewStage.words(changes.rows) == rows)
        #expect(stage.keys == shown)
    }
}
