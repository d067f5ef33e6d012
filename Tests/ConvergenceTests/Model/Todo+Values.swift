extension Todo {
    /// The fields that an edit changes.
    static let editableFields = ["text", "isDone", "priority", "completionDay", "order"]

    /// The fields whose values name the edit that they come from; `isDone` has only two values, and nil is none.
    var trackedValues: [(field: String, value: String)] {
        var values = [("text", text), ("order", String(order))]
        if let priority { values.append(("priority", priority)) }
        if let creationDay { values.append(("creationDay", creationDay)) }
        if let completionDay { values.append(("completionDay", completionDay)) }
        return values
    }

    /// Gives a field a value that no other edit gives it, or none where the field may have none.
    mutating func change(_ field: String, to value: Int, clears: Bool) {
        switch field {
        case "text": text = "text \(value) é"
        case "isDone": isDone.toggle()
        case "priority": priority = clears ? nil : "priority \(value)"
        case "completionDay": completionDay = clears ? nil : "done \(value)"
        default: order = value
        }
    }
}
