/// What a request takes of memory while it waits.
enum RequestWeight {
    /// Bytes that a value of a message takes, roughly, beside its text.
    private static let bytesOfValue = 48
    /// Bytes that an object takes beside that: an operation has a record, the record fields, and each a dictionary.
    private static let bytesOfObject = 256

    /// The bytes of a body, and of what it becomes when it is read: each comma stands before another value, and each
    /// brace before an object. A body of braces alone, which is no message, weighs no more than one of commas.
    static func bytes(of body: [UInt8]) -> Int {
        let parts = body.reduce(into: 0) { sum, byte in
            switch byte {
            case UInt8(ascii: ","): sum &+= bytesOfValue
            case UInt8(ascii: "{"): sum &+= bytesOfObject
            default: break
            }
        }
        return body.count + min(parts, body.count * bytesOfValue)
    }
}
