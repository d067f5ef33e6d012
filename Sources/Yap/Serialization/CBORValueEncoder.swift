import FoundationEssentials

/// The encoder passed to a value's `encode(to:)`, and the open map or array that it requests.
///
/// A nested value is written directly to the same output. Containers that the model opens itself (`nestedContainer`,
/// `superEncoder`) may be filled in any order, so each has its own output until its parent is finished.
final class CBORValueEncoder: Encoder {
    enum Shape { case undecided, map, array, single }

    let output: CBOROutput
    let parent: CBORValueEncoder?
    let key: (any CodingKey)?
    let depth: Int
    let serial: Int

    @exclusivity(unchecked) private var shape = Shape.undecided
    @exclusivity(unchecked) private var headOffset = 0
    @exclusivity(unchecked) private var entriesStart = 0
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var itemsPerEntry = 0
    @exclusivity(unchecked) private var detached: [(offset: Int, encoder: CBORValueEncoder)] = []
    @exclusivity(unchecked) private var failure: (any Error)?

    init(output: CBOROutput, parent: CBORValueEncoder?, key: (any CodingKey)?) {
        self.output = output
        self.parent = parent
        self.key = key
        depth = (parent?.depth ?? 0) + 1
        serial = output.nextSerial()
        output.openSerial = serial
    }

    var codingPath: [any CodingKey] {
        var path: [any CodingKey] = []
        var node: CBORValueEncoder? = self
        while let current = node {
            if let key = current.key { path.append(key) }
            node = current.parent
        }
        return path.reversed()
    }

    var userInfo: [CodingUserInfoKey: Any] { [:] }

    // MARK: Encoding the model

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        open(.map)
        return KeyedEncodingContainer(CBORKeyedEncodingContainer<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        open(.array)
        return CBORUnkeyedEncodingContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        open(.single)
        return CBORSingleValueEncodingContainer(encoder: self)
    }

    /// Requesting the same kind of container again continues it, because a class and its superclass may share one.
    private func open(_ shape: Shape) {
        guard self.shape == .undecided else {
            if self.shape != shape {
                failure = error("Two kinds of containers were requested for one value.")
            }
            return
        }
        self.shape = shape
        guard shape != .single else { return }
        headOffset = output.openHead()
        entriesStart = output.entries.count
    }

    // MARK: Output of its containers

    /// Writes a key of the map. The caller then writes its value.
    @inline(__always)
    func put(_ key: String) throws -> CBOROutput {
        try requireOpen()
        let offset = output.count
        let text = output.write(key)
        let tag = CBORKey.tag(UnsafeRawBufferPointer(start: output.base + text.lowerBound, count: text.count))
        output.entries.append(.init(offset: offset, tag: tag))
        count += 1
        return output
    }

    /// Counts an item of the array. The caller then writes it.
    func putItem() throws -> CBOROutput {
        try requireOpen()
        if itemsPerEntry > 0, count % itemsPerEntry == 0 {
            output.entries.append(.init(offset: output.count, tag: 0))
        }
        count += 1
        return output
    }

    /// Allows the single value. The caller then writes it.
    func putSingle() throws -> CBOROutput {
        try requireOpen()
        guard count == 0 else { throw error("A single value was written twice.") }
        count = 1
        return output
    }

    /// Rejects a container that is used while a value inside it is being written, or after it is finished.
    @inline(__always)
    private func requireOpen() throws {
        guard output.openSerial == serial else {
            throw error("A container was used outside the encode(to:) that it was made for.")
        }
    }

    /// Writes a value without its own form, for the item put at `offset`. `key` only names it in errors.
    ///
    /// If its `encode(to:)` throws, neither item nor value remains, so a caller that catches the error can continue.
    func writeInside<Value: Encodable>(_ value: Value, putAt offset: Int, key: (any CodingKey)?) throws {
        defer { output.openSerial = serial }
        do {
            guard depth < CBORLimits.depthMax else { throw tooDeep() }
            try CBORValueEncoder(output: output, parent: self, key: key).fill(with: value)
        } catch {
            count -= 1
            output.truncate(to: offset)
            throw error
        }
    }

    /// Returns an encoder, filled later, for the item that `put` makes room for.
    func detach(key: any CodingKey, put: () throws -> CBOROutput) -> CBORValueEncoder {
        let child = CBORValueEncoder(output: CBOROutput(capacity: 64), parent: self, key: key)
        do {
            _ = try put()
            guard depth < CBORLimits.depthMax else { throw tooDeep() }
            detached.append((output.count, child))
        } catch {
            // This call can't throw, so `finish` will.
            if failure == nil { failure = error }
        }
        return child
    }

    // MARK: The whole value

    /// Writes all of `value` through its own `encode(to:)`.
    func fill<Value: Encodable>(with value: Value) throws {
        if let unordered = Value.self as? any CBORUnorderedCollection.Type {
            itemsPerEntry = unordered.itemsPerEntry
        }
        try value.encode(to: self)
        try finish()
    }

    /// Writes `value` if its type has a form of its own, which its `encode(to:)` doesn't use.
    ///
    /// Each cast is preceded by the proof that the types are the same.
    func writeOwnForm<Value>(_ value: Value) -> Bool {
        if Value.self == String.self {
            output.write(unsafeBitCast(value, to: String.self))
        } else if Value.self == Int.self {
            output.write(Int64(unsafeBitCast(value, to: Int.self)))
        } else if Value.self == Double.self {
            output.write(unsafeBitCast(value, to: Double.self))
        } else if Value.self == Bool.self {
            output.write(unsafeBitCast(value, to: Bool.self))
        } else if Value.self == Date.self {
            output.write(unsafeBitCast(value, to: Date.self).timeIntervalSinceReferenceDate)
        } else if Value.self == UUID.self {
            withUnsafeBytes(of: unsafeBitCast(value, to: UUID.self).uuid) { output.write(bytes: $0) }
        } else if Value.self == Data.self {
            unsafeBitCast(value, to: Data.self).withUnsafeBytes { output.write(bytes: $0) }
        } else if Value.self == [UInt8].self {
            unsafeBitCast(value, to: [UInt8].self).withUnsafeBytes { output.write(bytes: $0) }
        } else if Value.self == URL.self {
            let url = unsafeBitCast(value, to: URL.self)
            guard url.baseURL == nil else { return false }
            output.write(url.absoluteString)
        } else {
            return writeArray(value)
        }
        return true
    }

    /// Writes an array of texts or numbers, for which a container would take most of the time.
    private func writeArray<Value>(_ value: Value) -> Bool {
        // Too deep: `writeInside` throws.
        guard depth < CBORLimits.depthMax else { return false }
        if Value.self == [String].self {
            let texts = unsafeBitCast(value, to: [String].self)
            output.writeHead(0x80, UInt64(texts.count))
            for text in texts { output.write(text) }
        } else if Value.self == [Int].self {
            let numbers = unsafeBitCast(value, to: [Int].self)
            output.writeHead(0x80, UInt64(numbers.count))
            for number in numbers { output.write(Int64(number)) }
        } else if Value.self == [Double].self {
            let numbers = unsafeBitCast(value, to: [Double].self)
            output.writeHead(0x80, UInt64(numbers.count))
            for number in numbers { output.write(number) }
        } else {
            return false
        }
        return true
    }

    private func finish() throws {
        if let failure { throw failure }
        switch shape {
        case .undecided:
            headOffset = output.openHead()
            output.closeHead(at: headOffset, major: 0xA0, length: 0)
        case .single:
            guard count == 1 else { throw error("The value encoded nothing.") }
        case .map:
            if let key = output.duplicateKey(from: entriesStart) {
                throw error("The key \"\(key)\" was encoded twice.")
            }
            try close(major: 0xA0)
        case .array:
            try close(major: 0x80)
        }
        try checkSize()
    }

    /// Rejects an object that a decoder would reject.
    func checkSize() throws {
        guard output.count <= CBORLimits.bytesMax else {
            throw error("More than \(CBORLimits.bytesMax) bytes.")
        }
    }

    private func close(major: UInt8) throws {
        if itemsPerEntry > 0 { output.sortEntries(from: entriesStart) }
        try attachDetached()
        output.entries.removeSubrange(entriesStart...)
        output.closeHead(at: headOffset, major: major, length: count)
    }

    private func attachDetached() throws {
        guard !detached.isEmpty else { return }
        for (offset, child) in detached.reversed() {
            try child.finish()
            output.insert(child.output.bytes, at: offset)
        }
        detached = []
    }

    // MARK: Errors

    private func tooDeep() -> EncodingError {
        error("More than \(CBORLimits.depthMax) values within one another: is there a cycle?")
    }

    private func error(_ reason: String) -> EncodingError {
        .invalidValue((), .init(codingPath: codingPath, debugDescription: reason))
    }
}
