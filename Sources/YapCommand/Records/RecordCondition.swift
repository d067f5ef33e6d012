import CloudWire

/// One `--where`: a field, a comparison, a value.
struct RecordCondition {
    enum Comparison: String, CaseIterable {
        // The longer sign first, because it begins with the shorter one.
        case lessOrEqual = "<="
        case greaterOrEqual = ">="
        case notEqual = "!="
        case equal = "="
        case less = "<"
        case greater = ">"
    }

    let field: String
    let comparison: Comparison
    let value: String

    private init(field: String, _ comparison: Comparison, _ value: String) {
        (self.field, self.comparison, self.value) = (field, comparison, value)
    }

    /// Returns the same field with another comparison.
    func with(_ comparison: Comparison, _ value: String) -> RecordCondition {
        RecordCondition(field: field, comparison, value)
    }

    /// Parses `priority > 3` or `title = 'Buy milk'`.
    init(_ text: String) throws {
        let found = text.indices.lazy.compactMap { start in
            Comparison.allCases.first { text[start...].hasPrefix($0.rawValue) }.map { (start, $0) }
        }.first
        guard let (start, comparison) = found else {
            throw Failure.usage(
                "--where takes FIELD COMPARISON VALUE, as 'priority > 3', with = != < <= > >=; not \"\(text)\""
            )
        }
        field = String(Self.trimmed(text[..<start]))
        var rest = text[text.index(start, offsetBy: comparison.rawValue.count)...]
        // Also accepts `==`, as in many languages.
        if comparison == .equal, rest.first == "=" { rest = rest.dropFirst() }
        self.comparison = comparison
        value = Self.unquoted(Self.trimmed(rest))
        guard !field.isEmpty else { throw Failure.usage("--where \"\(text)\" names no field") }
    }

    /// Returns true if the record has the field and its value matches. A record without the field differs from every
    /// value.
    func holds(for record: WireRecord) -> Bool {
        guard let found = ComparableFieldValue(of: field, in: record) else { return comparison == .notEqual }
        if case .list(let values) = found {
            let isIn = values.contains { $0.order(to: value) == 0 }
            return comparison == .equal ? isIn : comparison == .notEqual && !isIn
        }
        guard let order = found.order(to: value) else { return comparison == .notEqual }
        return switch comparison {
        case .equal: order == 0
        case .notEqual: order != 0
        case .less: order < 0
        case .lessOrEqual: order <= 0
        case .greater: order > 0
        case .greaterOrEqual: order >= 0
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " }
        while text.last == " " { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, let first = text.first, first == "'" || first == "\"", text.last == first
        else { return String(text) }
        return String(text.dropFirst().dropLast())
    }
}

/// A field's value for comparison and sorting: a number or text.
enum ComparableFieldValue {
    case integer(Int64)
    case number(Double)
    case text(String)
    case list([ComparableFieldValue])

    /// Returns the field's value, also of the fields of every record under Apple's names for queries.
    init?(of field: String, in record: WireRecord) {
        switch field {
        case "recordName", "___recordID": self = .text(record.recordName ?? "")
        case "recordType": self = .text(record.recordType ?? "")
        case "createdTimestamp", "___createTime", "createdTime":
            self = .integer(record.created?.timestampMilliseconds ?? 0)
        case "modifiedTimestamp", "___modTime", "modificationTime":
            self = .integer(record.modified?.timestampMilliseconds ?? 0)
        default:
            guard let value = record.fields[field]?.value, let made = ComparableFieldValue(value) else {
                return nil
            }
            self = made
        }
    }

    private init?(_ value: FieldValue) {
        switch value {
        case .string(let text): self = .text(text)
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .number(number)
        case .timestamp(let milliseconds): self = .integer(milliseconds)
        case .reference(let reference): self = .text(reference.recordName)
        case .list(_, let values): self = .list(values.compactMap(ComparableFieldValue.init))
        case .bytes, .encryptedBytes, .location, .asset: return nil
        }
    }

    /// Returns a number below 0 if this comes before the value in `text`, 0 if they are equal, and nil if they can't
    /// be compared.
    func order(to text: String) -> Int? {
        switch self {
        case .integer(let own):
            let words = ["true": Int64(1), "false": 0]
            if let other = Int64(text) ?? words[text] { return Self.order(own, other) }
            return Double(text).map { Self.order(Double(own), $0) }
        case .number(let own): return Double(text).map { Self.order(own, $0) }
        case .text(let own): return Self.textOrder(own, text)
        case .list: return nil
        }
    }

    /// Order of two values: numbers, then texts by their bytes, then lists.
    static func order(_ left: ComparableFieldValue, _ right: ComparableFieldValue) -> Int {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): order(left, right)
        case (.integer(let left), .number(let right)): order(Double(left), right)
        case (.number(let left), .integer(let right)): order(left, Double(right))
        case (.number(let left), .number(let right)): order(left, right)
        case (.text(let left), .text(let right)): textOrder(left, right)
        default: order(left.rank, right.rank)
        }
    }

    private var rank: Int {
        switch self {
        case .integer, .number: 0
        case .text: 1
        case .list: 2
        }
    }

    private static func textOrder(_ left: String, _ right: String) -> Int {
        if left.utf8.elementsEqual(right.utf8) { return 0 }
        return left.utf8.lexicographicallyPrecedes(right.utf8) ? -1 : 1
    }

    private static func order<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : left > right ? 1 : 0
    }
}

/// One `--sort`: a field, and whether the largest value comes first.
struct RecordOrder {
    let field: String
    let isDescending: Bool

    /// Parses `priority`, or `-priority` for the largest first.
    init(_ text: String) throws {
        isDescending = text.hasPrefix("-")
        field = String(isDescending ? text.dropFirst() : text[...])
        guard !field.isEmpty else { throw Failure.usage("--sort needs a field, as --sort=-priority") }
    }

    /// Returns true if `left` comes before `right` by all of `orders`, as in the response of `records/query`: equal
    /// records are in the order of their zones, then of their names in the direction of the last order, and a record
    /// without the field comes first.
    static func isBefore(_ left: WireRecord, _ right: WireRecord, by orders: [RecordOrder]) -> Bool {
        for order in orders {
            switch (
                ComparableFieldValue(of: order.field, in: left),
                ComparableFieldValue(of: order.field, in: right)
            ) {
            case (nil, nil): continue
            case (_?, nil): return order.isDescending
            case (nil, _?): return !order.isDescending
            case (let one?, let other?):
                let compared = ComparableFieldValue.order(one, other)
                if compared != 0 { return order.isDescending ? compared > 0 : compared < 0 }
            }
        }
        let zones = (left.zoneID?.zoneName ?? "", right.zoneID?.zoneName ?? "")
        if zones.0 != zones.1 { return zones.0 < zones.1 }
        let names = (left.recordName ?? "", right.recordName ?? "")
        return orders.last?.isDescending ?? false ? names.0 > names.1 : names.0 < names.1
    }
}
