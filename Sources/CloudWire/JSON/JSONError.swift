/// The reason that bytes aren't valid JSON or aren't the expected message.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of error.
    package enum Code: String, Hashable, Sendable {
        /// The bytes aren't JSON.
        case malformed
        /// The bytes exceed a limit on size or depth.
        case limitExceeded
        /// An object contains a key twice.
        case duplicateKey
        /// The JSON isn't the expected message: a key is missing, or a value has the wrong type.
        case unexpected
        /// A number can't be represented in JSON. Thrown when writing.
        case notRepresentable
    }

    /// Kind of error.
    package var code: Code
    /// The problem, with the path of the value: `operations[2].record.fields.title.value: ...`.
    package var reason: String
    /// Offset of the problem in the bytes. 0 when writing.
    package var byteOffset: Int

    /// Makes an error.
    package init(_ code: Code, _ reason: String, byteOffset: Int = 0) {
        self.code = code
        self.reason = reason
        self.byteOffset = byteOffset
    }

    /// The reason, the code and the offset.
    package var description: String { "\(reason) (\(code.rawValue), byte \(byteOffset))" }

    /// The server's response to a request with this error.
    package var wireError: WireError { WireError(.badRequest, reason: description) }
}
