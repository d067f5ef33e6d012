/// The source of a column: a property of the object or of the metadata. Both may have the same type.
enum IndexColumnPath: Sendable, Equatable, CustomStringConvertible {
    case object(any AnyKeyPath & Sendable)
    case metadata(any AnyKeyPath & Sendable)

    var isOfMetadata: Bool {
        if case .metadata = self { true } else { false }
    }

    /// The property.
    var path: any AnyKeyPath & Sendable {
        switch self {
        case .object(let path), .metadata(let path): path
        }
    }

    /// The property in Swift's notation.
    var description: String { "\(path)" }

    static func == (left: IndexColumnPath, right: IndexColumnPath) -> Bool {
        left.isOfMetadata == right.isOfMetadata && left.path == right.path
    }
}
