extension Todo {
    /// Reads one line, without its line ending. Every line is an item: what doesn't fit the format is title.
    ///
    /// Exactly one space is taken after the mark, the priority and each date, and before the colour, which is the tag
    /// `color:#rrggbb` at the end; so `line` gives the same bytes back.
    public init(line: String, order: Int = 0) {
        var rest = line.utf8[...]
        let isDone = Todo.take("x ", from: &rest)
        let priority = Todo.takePriority(from: &rest)
        let firstDay = Todo.takeDay(from: &rest)
        let secondDay = isDone && firstDay != nil ? Todo.takeDay(from: &rest) : nil
        let color = Todo.takeColor(from: &rest)
        self.init(
            title: String(Substring(rest)), isDone: isDone, priority: priority,
            creationDay: isDone ? secondDay : firstDay, completionDay: isDone ? firstDay : nil, order: order,
            color: color)
    }

    /// The item as a line of a todo.txt file, without a line ending.
    ///
    /// The format has no place for the completion day of an open item, nor for the creation day of a done item
    /// whose completion day isn't known: those two aren't written. A newline in the title becomes a space.
    public var line: String {
        var words = [String]()
        if isDone { words.append("x") }
        if let priority { words.append("(\(priority))") }
        if isDone {
            if let completionDay {
                words.append(completionDay)
                if let creationDay { words.append(creationDay) }
            }
        } else if let creationDay {
            words.append(creationDay)
        }
        words.append(String(decoding: title.utf8.map { $0 == UInt8(ascii: "\n") ? 0x20 : $0 }, as: UTF8.self))
        if let color { words.append(Todo.colorTag + color.text) }
        return words.joined(separator: " ")
    }

    private static func take(_ prefix: String, from rest: inout Substring.UTF8View) -> Bool {
        guard rest.starts(with: prefix.utf8) else { return false }
        rest = rest.dropFirst(prefix.utf8.count)
        return true
    }

    private static let colorTag = "color:"

    /// Takes the last word, when it is a colour in the form in which `line` writes it.
    private static func takeColor(from rest: inout Substring.UTF8View) -> TodoColor? {
        let tag = " " + colorTag
        let word = rest.suffix(tag.utf8.count + 7)
        guard word.starts(with: tag.utf8),
            let color = TodoColor(text: Substring(word.dropFirst(tag.utf8.count)))
        else { return nil }
        rest = rest.dropLast(word.count)
        return color
    }

    private static func takePriority(from rest: inout Substring.UTF8View) -> String? {
        let head = Array(rest.prefix(4))
        guard head.count == 4, head[0] == UInt8(ascii: "("), head[2] == UInt8(ascii: ")"),
            head[3] == UInt8(ascii: " "), (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(head[1])
        else { return nil }
        rest = rest.dropFirst(4)
        return String(decoding: [head[1]], as: UTF8.self)
    }

    private static func takeDay(from rest: inout Substring.UTF8View) -> String? {
        let head = Array(rest.prefix(11))
        guard head.count == 11, head[10] == UInt8(ascii: " ") else { return nil }
        for (index, byte) in head.dropLast().enumerated() {
            let isHyphen = index == 4 || index == 7
            let isRight =
                isHyphen
                ? byte == UInt8(ascii: "-") : (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            guard isRight else { return nil }
        }
        let day = String(decoding: head.dropLast(), as: UTF8.self)
        guard let month = Int(day.dropFirst(5).prefix(2)), let dayOfMonth = Int(day.suffix(2)),
            (1...12).contains(month), (1...31).contains(dayOfMonth)
        else { return nil }
        rest = rest.dropFirst(11)
        return day
    }
}
