/// Entries of a CBOR map in order, each value as bytes. Used to change objects without their type.
struct CBORMap {
    struct Entry {
        var key: String
        var value: [UInt8]
    }

    var entries: [Entry] = []

    /// Parses bytes that are exactly one map.
    init(_ bytes: UnsafeRawBufferPointer) throws {
        let input = CBORInput(bytes)
        var (count, position) = try input.container(at: 0, major: 5)
        while count > 0 {
            let key = try input.text(at: position)
            let start = try input.end(ofItemAt: position)
            position = try input.end(ofItemAt: start, depth: 1)
            entries.append(Entry(key: key, value: Array(bytes[start..<position])))
            count -= 1
        }
        try input.checkEnd(position)
    }

    /// The bytes of a value, or nil. A new value is appended; nil removes one.
    subscript(key: String) -> [UInt8]? {
        get { entries.first { $0.key == key }?.value }
        set {
            let index = entries.firstIndex { $0.key == key }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    var bytes: [UInt8] {
        let output = CBOROutput(capacity: 512)
        output.writeHead(0xA0, UInt64(entries.count))
        for entry in entries {
            output.write(entry.key)
            entry.value.withUnsafeBytes { output.write(item: $0) }
        }
        return [UInt8](output.bytes)
    }
}

extension CBORMap {
    init(_ bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { try CBORMap($0) }
    }

    /// Sets, in the map at `path`, the value that `defaults` has there under `key`.
    /// - Returns: True if it has one.
    mutating func fill(
        _ key: String, at path: some Collection<String>, from defaults: CBORMap
    ) throws -> Bool {
        guard let step = path.first else {
            guard let value = defaults[key], self[key] == nil else { return false }
            self[key] = value
            return true
        }
        guard let own = self[step], let other = defaults[step] else { return false }
        var nested = try CBORMap(own)
        guard try nested.fill(key, at: path.dropFirst(), from: try CBORMap(other)) else { return false }
        self[step] = nested.bytes
        return true
    }
}
