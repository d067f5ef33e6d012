/// A file of settings that a person writes: an object of names and values, of which some are objects again.
public struct SettingsDocument: Hashable, Sendable {
    /// One setting.
    public struct Setting: Hashable, Sendable {
        /// Its name; one inside of another object has that one's before it, with a dot.
        public var name: String
        /// Its value: never an object.
        public var value: JSONValue
        /// Where the value stands in the file.
        public var byteOffset: Int
    }

    /// The settings in their order.
    public var settings: [Setting] = []

    /// Says nothing yet.
    public init() {}

    /// The line, counted from 1, in which a byte of `text` stands.
    public static func line(ofByte offset: Int, in text: [UInt8]) -> Int {
        text.prefix(max(0, offset)).reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
    }
}

extension SettingsDocument: JSONCodable, JSONMessage {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        try read(node, prefix: "")
    }

    private mutating func read(_ node: JSONNode, prefix: String) throws(JSONError) {
        for member in try node.members() {
            let name = prefix + member.key.string
            let tree = try member.value.tree()
            if case .object = tree {
                try read(member.value, prefix: name + ".")
            } else {
                let offset = member.value.unexpected("").byteOffset
                settings.append(Setting(name: name, value: tree, byteOffset: offset))
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            for setting in settings {
                writer.key(setting.name)
                writer.value(setting.value)
            }
        }
    }
}
