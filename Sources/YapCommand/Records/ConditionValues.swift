import CloudService
import CloudWire
import Foundation

/// Checks that a condition compares a field with a value of its type. Other comparisons never match, which would look
/// like an answer.
extension RecordCondition {
    /// Returns the conditions with values of the field's own type: a time as a number in milliseconds.
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

    /// Converts a time. A day or a second includes all its milliseconds: equal means any of them, and later
    /// means after the last one.
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
    /// Returns the first millisecond of a day, a second or a millisecond in ISO 8601 in UTC, and the number of its
    /// milliseconds. Nil for another text.
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
