import TodoKit

/// The last table: the results of the edited items, and any item that differs between the places.
enum DemoTable {
    /// Maximum rows of items that differ.
    static let differencesMax = 20

    /// A decision, as a sentence.
    static func sentence(_ decision: Decision, _ edits: DemoEdits) -> String {
        let title = edits.edits.first { $0.key == decision.key }?.title ?? decision.key
        let other = names.first { $0 != decision.device } ?? "another device"
        let sentence = decision.conflict.sentence(here: "the \(decision.device)", there: "the \(other)")
        return "“\(Narrator.cut(title, to: 24))”: \(sentence)"
    }

    private static let names = ["phone", "laptop"]

    /// Returns the device that won an edit, and why, from the decisions of the devices' syncs.
    static func verdict(_ key: String, _ decisions: [Decision]) -> (won: String, why: String) {
        guard let last = decisions.last(where: { $0.key == key }) else {
            return ("both", "they changed different fields")
        }
        let other = names.first { $0 != last.device } ?? ""
        return switch last.rule {
        case "remoteWon": (other, "the same field: the first to reach the server")
        case "localKept": (last.device, "it alone had changed the field")
        case "merged": ("both", "the field's own rule made one value of both")
        case "superseded": (last.device, "its own later value")
        case "editBeatDeletion": (last.device, "an edit beats a deletion")
        case "deletionDropped": (other, "an edit beats a deletion")
        case "deletedRemotely": (other, "deleted, with nothing left to save")
        default: (last.device, "the server had lost the value")
        }
    }

    /// Returns a row for each edited item: the edits, the winner with the reason, and whether it is the same
    /// everywhere.
    static func edited(
        _ edits: DemoEdits, _ comparison: TodoComparison, _ decisions: [Decision]
    ) -> [[String]] {
        let unequalKeys = Set(comparison.differences.map(\.key))
        return [["item", "phone", "laptop", "who won", "why", "all three"]]
            + edits.edits.map { edit in
                let verdict = verdict(edit.key, decisions)
                return [
                    Narrator.cut(edit.title, to: 24), edit.phoneSays, edit.laptopSays, verdict.won,
                    verdict.why,
                    unequalKeys.contains(edit.key) ? "NOT EQUAL" : "equal",
                ]
            }
    }

    /// A row for each item: the same everywhere or not.
    static func items(_ rows: [TodoComparison.Row]) -> [[String]] {
        rows.map { row in
            row.todos.map { $0?.line ?? "(absent)" } + [row.isEqual ? "equal" : "NOT EQUAL"]
        }
    }
}

/// What a device's sync decided about one change.
struct Decision {
    let device: String
    let conflict: TodoConflict

    var key: String { conflict.key }
    var rule: String { conflict.rule }
}
