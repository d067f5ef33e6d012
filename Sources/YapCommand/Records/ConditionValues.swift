import CloudService
import CloudWire
import Foundation

/// What a condition compares with has to be of the field's type: nothing compares with anything else, and a query that
/// finds nothing looks like an answer.
extension RecordCondition {
    /// The same as conditions on the field's own kind of value: a time that is written as a time in milliseconds.
    ///
    /// - Throws: `Failure.usage` for a value that the field's type can't have.
    func fitting(_ type: RecordType) throws -> [RecordCondition] {
        guard let declared = type.fields[field]?.type ?? Self.systemTypes[field] ?? Self.otherTypes[field]
        else { return [self] }
        switch declared.elementType ?? declared {
        case .int64 where !isNumber && !["true", "false"].contains(value): throw unfit(declared, "a number")
        case .double where !isNumber: throw unfit(declared, "a number")
        case .timestamp: return try ofTimes(declared)
        case .int64, .double, .string, .reference: return [self]
        default: throw Failure.usage("\(field) is a \(declared.rawValue): --where can't compare it")
        }
    }

    private static let otherTypes: [String: FieldType] = [
        "createdTime": .timestamp, "modificationTime": .timestamp,
    ]

    private var isNumber: Bool { Double(value).map(\.isFinite) ?? false }

    private func unfit(_ type: FieldType, _ wanted: String) -> Failure {
        .usage("\(field) is a \(type.rawValue): it compares with \(wanted), not \"\(value)\"")
    }

    /// A day or a second is all its moments: equal is each of them, and later is what comes after the last.
    private func ofTimes(_ type: FieldType) throws -> [RecordCondition] {
        if Int64(value) != nil { return [self] }
        guard let time = TimeText.milliseconds(value) else {
            throw unfit(type, "milliseconds since 1970, or a time as 2026-11-25 or 2026-11-25T10:34:25Z")
        }
        if time.count > 1, comparison == .notEqual || type.elementType != nil {
            throw unfit(type, "milliseconds since 1970 here, or a time as 2026-11-25T10:34:25.300Z")
        }
        let (first, next) = ("\(time.first)", "\(time.first + time.count)")
        switch comparison {
        case .equal where time.count > 1: return [with(.greaterOrEqual, first), with(.less, next)]
        case .lessOrEqual: return [with(.less, next)]
        case .greater: return [with(.greaterOrEqual, next)]
        default: return [with(comparison, first)]
        }
    }
}

extension TimeText {
    /// The first millisecond of a day, a second or a millisecond as ISO 8601 writes it in UTC, and how many it has; nil
    /// for another text.
    static func milliseconds(_ text: String) -> (first: Int64, count: Int64)? {
        func first(_ style: Date.ISO8601FormatStyle, _ text: String) -> Int64? {
            guard let date = try? style.parse(text), style.format(date) == text else { return nil }
            return Int64(date.timeIntervalSince1970) * 1_000
        }
        if let day = first(.iso8601.year().month().day(), text) { return (day, 86_400_000) }
        if let second = first(.iso8601, text) { return (second, 1_000) }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].count == 4, parts[1].hasSuffix("Z"),
            let part = UInt16(parts[1].dropLast()),
            let second = first(.iso8601, parts[0] + "Z")
        else { return nil }
        return (second + Int64(part), 1)
    }
}
