/// Why bytes from a disk are not what they should be.
package struct BinaryError: Error, Hashable, Sendable {
    /// What is wrong.
    package var reason: String
    /// Where in the bytes.
    package var byteOffset: Int

    /// Makes an error.
    package init(reason: String, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
