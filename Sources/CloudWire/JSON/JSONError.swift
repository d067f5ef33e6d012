/// Why bytes are not the JSON, or not the message, that was expected.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Which kind of fault.
    package enum Code: String, Hashable, Sendable {
        /// The bytes are no JSON.
        case malformed
        /// The bytes go beyond a limit on size or depth.
        case limitExceeded
        /// An object has one key twice.
        case duplicateKey
        /// The JSON is not the message that was expected: a key is missing, or a value has the wrong shape.
        case unexpected
        /// A number that JSON can't hold was to be written.
        case notRepresentable
    }

    /// Which kind of fault.
    package var code: Code
    /// What is wrong, with the path of the value in words: `operations[2].record.fields.title.value: ...`.
    package var reason: String
    /// Where in the bytes; 0 when writing.
    package var byteOffset: Int

    /// Makes an error.
    package init(_ code: Code, _ reason: String, byteOffset: Int = 0) {
        self.code = code
        self.reason = reason
        self.byteOffset = byteOffset
    }

    /// The reason and the place.
    package var description: String { "\(reason) (\(code.rawValue), byte \(byteOffset))" }

    /// What a server answers to a request that failed so.
    package var wireError: WireError { WireError(.badRequest, reason: description) }
}
