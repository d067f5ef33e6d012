/// What a column is of: a property of the object or of the metadata, whose types may be the same.
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

    /// The property as the source has it.
    var description: String { "\(path)" }

    static func == (left: IndexColumnPath, right: IndexColumnPath) -> Bool {
        left.isOfMetadata == right.isOfMetadata && left.path == right.path
    }
}
