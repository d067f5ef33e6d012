import TodoKit

/// What the two devices do to the list while neither can reach the other.
struct DemoEdits {
    /// One item, and what each device does with it.
    struct Edit {
        let key: String
        let title: String
        let phoneSays: String
        let laptopSays: String
        let phone: Change
        let laptop: Change
    }

    enum Change {
        case delete
        case done
        case color(String)
        case edit((inout Todo) -> Void)
    }

    /// One for each kind of conflict.
    static let itemsNeeded = 4

    /// As many of the edits as the list has items for.
    let edits: [Edit]

    init(_ items: [(key: String, todo: Todo)], today: String) {
        // Items that are still open, if there are enough, from different parts of the list.
        let open = items.filter { !$0.todo.isDone }
        let candidates = open.count >= Self.itemsNeeded ? open : items
        let count = min(candidates.count, Self.itemsNeeded)
        let chosen = (0..<count).map { candidates[(2 * $0 + 1) * candidates.count / (2 * count)] }
        edits = chosen.enumerated().map { index, item in
            Edit(item.key, item.todo, conflict: index, today: today)
        }
    }
}

extension DemoEdits.Edit {
    fileprivate init(_ key: String, _ todo: Todo, conflict: Int, today: String) {
        self.key = key
        title = todo.title
        switch conflict {
        case 0:
            (phoneSays, phone) = ("marks it done", .done)
            let priority = todo.priority == "A" ? "B" : "A"
            (laptopSays, laptop) = ("gives it priority \(priority)", .edit { $0.priority = priority })
        case 1:
            (phoneSays, phone) = ("adds @phone to the title", .edit { $0.title += " @phone" })
            (laptopSays, laptop) = ("adds @laptop to the title", .edit { $0.title += " @laptop" })
        case 2:
            (phoneSays, phone) = ("colours it red", .color("red"))
            (laptopSays, laptop) = ("colours it blue", .color("blue"))
        default:
            (phoneSays, phone) = ("deletes it", .delete)
            (laptopSays, laptop) = ("adds a due date", .edit { $0.title += " due:\(today)" })
        }
    }
}
