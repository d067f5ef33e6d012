/// What a request takes of memory while it waits.
enum RequestWeight {
    /// Bytes that a value of a message takes, roughly, beside its text.
    private static let bytesOfValue = 48

    /// The bytes of a body, and of what it becomes when it is read: each comma stands before another value.
    static func bytes(of body: [UInt8]) -> Int {
        let commasCount = body.reduce(into: 0) { count, byte in count &+= byte == 0x2C ? 1 : 0 }
        return body.count + commasCount * bytesOfValue
    }
}
