/// A file of settings that a person writes: an object of names and values, of which some are objects again.
package struct SettingsDocument: Hashable, Sendable {
    /// One setting.
    package struct Setting: Hashable, Sendable {
        /// Its name; one inside of another object has that one's before it, with a dot.
        package var name: String
        /// Its value: never an object.
        package var value: JSONValue
        /// Where the value stands in the file.
        package var byteOffset: Int
    }

    /// The settings in their order.
    package var settings: [Setting] = []

    /// Says nothing yet.
    package init() {}

    /// The line, counted from 1, in which a byte of `text` stands.
    package static func line(ofByte offset: Int, in text: [UInt8]) -> Int {
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
