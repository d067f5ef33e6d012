/// A settings file that people write: an object of names and values. Some values are objects themselves.
package struct SettingsDocument: Hashable, Sendable {
    /// One setting.
    package struct Setting: Hashable, Sendable {
        /// Name of the setting. For a setting in a nested object, the object's name and a dot come first.
        package var name: String
        /// Value of the setting. Never an object.
        package var value: JSONValue
        /// Offset of the value in the file.
        package var byteOffset: Int
    }

    /// The settings in the order of the file.
    package var settings: [Setting] = []

    /// Makes an empty document.
    package init() {}

    /// Returns the line, counted from 1, of a byte of `text`.
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
