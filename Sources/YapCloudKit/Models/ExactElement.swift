internal import CloudKit
internal import CloudWire

/// An element of a list that equals another one if both are encoded as the same bytes. Swift's `==` takes two normal
/// forms of a text as equal, and zero and minus zero. Elements that no field can have are compared with `==`.
struct ExactElement<Element: Hashable>: Hashable {
    let element: Element
    /// The encoded element, or nil if no field can have it.
    private let written: FieldValue?

    init(_ element: Element) {
        self.element = element
        written = Self.written(element)
    }

    private static func written(_ value: Any) -> FieldValue? {
        switch value {
        case let text as String: .string(text)
        case let value as any CKRecordValueProtocol: try? FieldValue(value, isEncrypted: false, in: .default)
        case let value as any CloudFieldValue: value.cloudValue.flatMap { written($0) }
        case let value as any RawRepresentable: written(value.rawValue)
        default: nil
        }
    }

    static func == (left: Self, right: Self) -> Bool {
        guard let leftWritten = left.written, let rightWritten = right.written else {
            return left.written == right.written && left.element == right.element
        }
        return leftWritten == rightWritten
    }

    func hash(into hasher: inout Hasher) {
        if let written { hasher.combine(written) } else { hasher.combine(element) }
    }
}
