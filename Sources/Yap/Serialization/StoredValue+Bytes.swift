extension StoredValue {
    /// The value in CBOR as the library's encoder writes it, without the payload of a NaN. `foreign` bytes unchanged.
    package var cbor: [UInt8] {
        let output = CBOROutput(capacity: 256)
        write(to: output)
        return [UInt8](output.bytes)
    }

    private func write(to output: CBOROutput) {
        switch self {
        case .null: output.writeNull()
        case .bool(let value): output.write(value)
        case .integer(let value): output.write(value)
        case .unsigned(let value): output.write(value)
        // One form for every NaN, as in the text form.
        case .double(let value): output.write(value.isNaN ? .nan : value)
        case .float(let value): output.write(value.isNaN ? .nan : value)
        case .text(let text): output.write(text)
        case .bytes(let bytes): bytes.withUnsafeBytes { output.write(bytes: $0) }
        case .array(let values):
            output.writeHead(0x80, UInt64(values.count))
            for value in values { value.write(to: output) }
        case .map(let entries):
            output.writeHead(0xA0, UInt64(entries.count))
            for entry in entries {
                entry.key.write(to: output)
                entry.value.write(to: output)
            }
        case .foreign(let bytes): bytes.withUnsafeBytes { output.write(item: $0) }
        }
    }
}

/// An object's bytes parsed without its type: the object, the version of the type that stored it, and properties kept
/// for other versions.
package struct StoredObject: Equatable, Sendable {
    /// Versions that can be stored.
    package static let versions = 1...Int(UInt32.max)

    package let version: Int
    package let object: StoredValue
    /// Properties that were unknown to the type that stored the object: a map, or nil.
    package let kept: StoredValue?
    /// Version of the type that stored those. 0 if there are none.
    package let keptVersion: Int

    /// - Parameters:
    ///   - version: One of `versions`.
    ///   - kept: A map.
    package init(
        _ object: StoredValue, version: Int = 1, kept: StoredValue? = nil, keptVersion: Int = 0
    ) {
        (self.object, self.version, self.kept, self.keptVersion) = (object, version, kept, keptVersion)
    }

    /// Parses column `data` of a row. Bytes of another format are `foreign`.
    package init(_ bytes: UnsafeRawBufferPointer) {
        guard let form = try? StoredForm(bytes) else {
            self.init(.foreign([UInt8](bytes)))
            return
        }
        self.init(
            StoredValue(cbor: form.object), version: form.version,
            kept: form.kept.map { StoredValue(cbor: $0) },
            keptVersion: form.keptVersion)
    }

    /// The bytes to store. Usually equal to the bytes that were read; compare to be sure.
    package var bytes: [UInt8] {
        (kept.map { StoredForm.head(keptBytes: $0.cbor, version: keptVersion) } ?? [])
            + StoredForm.head(version: version) + object.cbor
    }

    /// Returns the names of all properties of an object's bytes, up to `max`. Empty if it isn't a map.
    static func propertyNames(_ bytes: UnsafeRawBufferPointer, max: Int) -> Set<String> {
        guard let form = try? StoredForm(bytes) else { return [] }
        var names: Set<String> = []
        for part in [form.object, form.kept].compactMap(\.self) {
            guard let map = try? CBORMap(part) else { continue }
            names.formUnion(map.entries.prefix(max).map(\.key))
        }
        return names
    }
}
