/// The size of a type over its declaration and all its extensions in a room, without the types nested in it.
struct TypeSize: Comparable, CustomStringConvertible {
    /// The room and the type's name, as `CloudStore/DataFolder` or `CloudWire/JSON.Reader`.
    let name: String
    var lines = 0
    /// Stored properties whose value can change: each `var`, and each lock around a state.
    var changingProperties = 0
    /// Functions, initializers and subscripts.
    var functions = 0

    var description: String { "\(lines) \(changingProperties) \(functions) \(name)" }

    static func < (left: Self, right: Self) -> Bool {
        (left.lines, right.name) < (right.lines, left.name)
    }

    /// The types of these files, which all lie under `Sources`, largest first.
    static func sizes(of files: [SourceFile]) -> [TypeSize] {
        var sizes = [String: TypeSize]()
        for file in files {
            let room = file.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
            var reader = TypeReader(room: room)
            for line in file.code { reader.read(line, into: &sizes) }
        }
        return sizes.values.sorted(by: >)
    }
}

/// Goes through the lines of a file, and keeps the types that are open.
///
/// Files are formatted: a type's members stand four columns further right, and its last brace as far left as its first
/// line.
private struct TypeReader {
    let room: String
    private var open: [(name: String, depth: Int)] = []

    init(room: String) { self.room = room }

    mutating func read(_ line: String, into sizes: inout [String: TypeSize]) {
        let depth = line.prefix { $0 == " " }.count
        let isMember = open.last.map { depth == $0.depth + 4 } ?? (depth == 0)
        let member = isMember ? Member(line) : nil
        let declared = member.flatMap { Member.typeKinds.contains($0.kind) ? $0.name : nil }
        if let declared {
            open.append(((open.last.map { $0.name + "." } ?? "") + declared, depth))
        }
        guard let type = open.last else { return }
        let key = "\(room)/\(type.name)"
        var size = sizes[key] ?? TypeSize(name: key)
        size.lines += 1
        if let member, declared == nil {
            if member.isChangingProperty { size.changingProperties += 1 }
            if member.isFunction { size.functions += 1 }
        }
        sizes[key] = size
        let endsHere =
            declared != nil ? line.hasSuffix("}") : depth == type.depth && line.dropFirst(depth) == "}"
        if endsHere { open.removeLast() }
    }
}

/// A line that declares a member of a type, or a type.
private struct Member {
    static let typeKinds: Set<Substring> = ["class", "struct", "enum", "actor", "protocol", "extension"]
    private static let functionKinds: Set<Substring> = ["func", "init", "subscript"]
    private static let modifiers: Set<Substring> = [
        "public", "package", "internal", "fileprivate", "private", "open", "final", "indirect", "nonisolated",
        "static", "mutating", "override", "required", "convenience", "lazy", "weak", "unowned",
        "private(set)",
        "nonisolated(unsafe)", "consuming", "borrowing",
    ]

    /// The keyword that declares it: `func`, `var`, `struct`.
    let kind: Substring
    let name: String?
    private let line: String
    private let isStatic: Bool

    init?(_ line: String) {
        var words = line.split(separator: " ", maxSplits: 8)[...]
        var isStatic = false
        while let word = words.first, word.first == "@" || Self.modifiers.contains(word) {
            isStatic = isStatic || word == "static"
            words.removeFirst()
        }
        // `class func` and `class var` declare a member, not a type.
        if words.first == "class", let next = words.dropFirst().first, next == "func" || next == "var" {
            isStatic = true
            words.removeFirst()
        }
        guard let first = words.first else { return nil }
        kind = first.prefix { $0.isLetter }
        name = words.dropFirst().first.map {
            String($0.prefix { $0.isLetter || $0.isNumber || "_.".contains($0) })
        }
        self.line = line
        self.isStatic = isStatic
    }

    var isFunction: Bool { Self.functionKinds.contains(kind) }

    var isChangingProperty: Bool {
        if isStatic { return false }
        if kind == "let" { return line.contains("Lock(") || line.contains("Lock<") }
        guard kind == "var" else { return false }
        guard let brace = line.firstIndex(of: "{") else { return true }
        let isObserved = line.contains("didSet") || line.contains("willSet")
        return line[..<brace].contains("=") || isObserved
    }
}
