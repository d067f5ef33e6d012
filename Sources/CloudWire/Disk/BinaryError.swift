/// Why bytes from a disk are not what they should be.
public struct BinaryError: Error, Hashable, Sendable {
    /// What is wrong.
    public var reason: String
    /// Where in the bytes.
    public var byteOffset: Int

    /// Makes an error.
    public init(reason: String, byteOffset: Int) {
        self.reason = reason
        self.byteOffset = byteOffset
    }
}
