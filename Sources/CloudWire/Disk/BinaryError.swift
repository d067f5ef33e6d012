/// The reason that bytes from a disk can't be decoded.
package struct BinaryError: Error, Hashable, Sendable {
    /// The problem.
    package var reason: String
    /// Offset of the problem in the bytes.
    package var byteOffset: Int

    /// Makes an error.
    package init(reason: String, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
