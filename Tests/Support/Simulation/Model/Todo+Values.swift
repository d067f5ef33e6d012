extension Todo {
    /// The fields that an edit draws from. `label` is drawn by itself: one more here would give each seed other edits.
    package static let editableFields = ["text", "isDone", "priority", "completionDay", "order"]

    /// The fields whose values name the edit that they come from; `isDone` has only two values, and nil is none.
    package var trackedValues: [(field: String, value: String)] {
        var values = [("text", text.spelledOut), ("order", String(order))]
        if let priority { values.append(("priority", priority.spelledOut)) }
        if let creationDay { values.append(("creationDay", creationDay)) }
        if let completionDay { values.append(("completionDay", completionDay.spelledOut)) }
        if let label { values.append(("label", label.spelledOut)) }
        // Each is a field of its own here: others add theirs, and this one stays.
        values += tags.map { (Self.tagField($0), $0) }
        if let photo { values.append(("photo", photo)) }
        if let scan { values.append(("scan", scan)) }
        if !pages.isEmpty { values.append(("pages", pages.joined(separator: " "))) }
        return values
    }

    /// What a tag is called in the ledger.
    package static func tagField(_ tag: String) -> String { "\(tagsField): \(tag)" }

    /// Gives a field a value that no other edit gives it, or none where the field may have none.
    package mutating func change(_ field: String, to value: Int, clears: Bool) {
        switch field {
        case "text": text = Self.text("text", value)
        case "isDone": isDone.toggle()
        case "priority": priority = clears ? nil : Self.text("priority", value)
        case "completionDay": completionDay = clears ? nil : Self.text("done", value)
        case "label": label = clears ? nil : Self.text("label", value)
        case Self.tagsField: tags.append("tag \(value)")
        case _ where field.hasPrefix("edge "):
            sample?.change(String(field.dropFirst("edge ".count)), to: value)
        case "photo-": photo = nil
        case "scan-": scan = nil
        case _ where field.hasPrefix("photo="): photo = String(field.dropFirst("photo=".count))
        case _ where field.hasPrefix("scan="): scan = String(field.dropFirst("scan=".count))
        case _ where field.hasPrefix("pages="):
            pages = field.dropFirst("pages=".count).split(separator: " ").map(String.init)
        case "photo": photo = clears ? nil : PersonsFile(value: value).text
        case "scan": scan = clears ? nil : PersonsFile(value: value).text
        case "pages": addPage(PersonsFile(value: value).text, clears: clears)
        default: order = Self.number(value)
        }
    }

    /// The fields that are files.
    package static let fileFields = ["photo", "scan", "pages"]
    /// How many pages an album may have: a merge log shows all of them.
    private static let pagesMax = 4

    /// Adds a page before the others, or in place of all of them.
    private mutating func addPage(_ page: String, clears: Bool) {
        if clears || pages.count == Self.pagesMax { pages = [] }
        pages.insert(page, at: 0)
    }

    /// All files of an album.
    var files: [String] { [photo, scan].compactMap(\.self) + pages }

    /// A number that no other value has: a whole one or a subnormal one, of either sign.
    private static func number(_ value: Int) -> Double {
        let number = value % 4 < 2 ? Double(value) : Double(bitPattern: UInt64(value.magnitude))
        return value % 2 == 0 ? number : -number
    }

    /// A text that no other value has. Those of up to 16 steps in a row differ in their normal form alone, so that
    /// Swift's `==` takes them for one.
    private static func text(_ name: String, _ value: Int) -> String {
        let (step, place) = value.quotientAndRemainder(dividingBy: 4)
        let forms = ["\u{e9}\u{323}", "e\u{301}\u{323}", "e\u{323}\u{301}", "\u{1eb9}\u{301}"]
        return "\(name) \(step / 16 * 4 + place) \(forms[step % 4])\(forms[step / 4 % 4])"
    }
}

extension String {
    /// The text with its scalars beyond ASCII as numbers: equal for the same bytes alone.
    var spelledOut: String {
        unicodeScalars.map { $0.isASCII ? String($0) : "<\(String($0.value, radix: 16))>" }.joined()
    }
}

extension Todo {
    /// Whether all values are the same bytes.
    package static func == (left: Todo, right: Todo) -> Bool {
        left.isDone == right.isDone && left.sample?.edges == right.sample?.edges
            && left.trackedValues.elementsEqual(right.trackedValues, by: ==)
    }
}

extension Todo {
    /// The item that an edit makes.
    package init(value: Int) {
        self.init()
        (text, isDone, order) = (Self.text("text", value), value % 2 == 0, Self.number(value))
        (priority, creationDay) = (value % 3 == 0 ? nil : Self.text("priority", value), "day \(value)")
    }

    /// What a line of a trace has room for.
    var short: String {
        let optional = [priority, creationDay, completionDay, label].map { $0 ?? "-" }.joined(separator: ", ")
        let edges = (sample?.edges ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key) \($0.value.prefix(30))"
        }
        let more = (tags + Self.fileFields.flatMap(shortFiles) + edges).map { ", " + $0 }.joined()
        return "{\(text), \(isDone ? "done" : "open"), \(order), \(optional)\(more)}"
    }

    private func shortFiles(_ field: String) -> [String] {
        let files = field == "pages" ? pages : [field == "photo" ? photo : scan].compactMap(\.self)
        return files.map { field + " " + $0.dropFirst("cloudfile:".count).prefix(8) }
    }
}

extension Todo {
    package init(
        text: String = "", isDone: Bool = false, priority: String? = nil, creationDay: String? = nil,
        completionDay: String? = nil, order: Double = 0, label: String? = nil
    ) {
        (self.text, self.isDone, self.priority) = (text, isDone, priority)
        (self.creationDay, self.completionDay, self.order) = (creationDay, completionDay, order)
        self.label = label
    }
}

extension KeyedEdit {
    /// What it makes of its item.
    func applied(to todo: Todo?) -> Todo? {
        guard let value = edit.valueOfNew(from: todo) else { return edit.applied(to: todo) }
        if key.hasPrefix(Keys.sample) {
            var sample = Todo(value: value)
            sample.sample = Sample(value: value)
            return sample
        }
        guard key.hasPrefix(Keys.album) else { return edit.applied(to: todo) }
        var album = Todo(value: value)
        album.change(value % 3 == 0 ? "scan" : "photo", to: value, clears: false)
        return album
    }

    /// The file of which the edit makes an album's.
    func file(before todo: Todo?) -> PersonsFile? {
        guard key.hasPrefix(Keys.album), let value = edit.value else { return nil }
        let file = PersonsFile(value: value)
        return applied(to: todo)?.files.contains(file.text) == true ? file : nil
    }
}

extension Edit {
    var value: Int? {
        switch self {
        case .delete: nil
        case .replace(let value), .change(_, let value, _): value
        }
    }

    /// The number of an edit that makes an item anew.
    fileprivate func valueOfNew(from todo: Todo?) -> Int? {
        if case .change = self, todo != nil { return nil }
        return value
    }

    /// What it makes of an item.
    func applied(to todo: Todo?) -> Todo? {
        switch self {
        case .delete: return nil
        case .replace(let value): return Todo(value: value)
        case .change(let fields, let value, let clears):
            guard var changed = todo else { return Todo(value: value) }
            for field in fields { changed.change(field, to: value, clears: clears) }
            return changed
        }
    }
}
