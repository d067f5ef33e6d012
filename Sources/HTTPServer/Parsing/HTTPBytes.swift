/// Returns true if the byte is allowed in a method or a field's name.
@inline(__always)
func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    // ! # $ % & ' * + - . ^ _ ` | ~
    case 0x21, 0x23...0x27, 0x2A, 0x2B, 0x2D, 0x2E, 0x5E, 0x5F, 0x60, 0x7C, 0x7E: true
    default: false
    }
}

/// Returns true if the byte is allowed unescaped in a path's segment.
@inline(__always)
func isSegmentByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    // ! $ & ' ( ) * + , - . : ; = @ _ ~
    case 0x21, 0x24, 0x26...0x2E, 0x3A, 0x3B, 0x3D, 0x40, 0x5F, 0x7E: true
    default: false
    }
}

/// Returns the value of a hexadecimal digit.
@inline(__always)
func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
}

/// Returns true if the bytes equal this ASCII text, ignoring case. The text must be in lower case.
func isEqual(_ bytes: Slice<UnsafeBufferPointer<UInt8>>, toLowercase text: StaticString) -> Bool {
    guard bytes.count == text.utf8CodeUnitCount else { return false }
    var index = 0
    for byte in bytes {
        if lowered(byte) != text.utf8Start[index] { return false }
        index += 1
    }
    return true
}

/// Returns the bytes without leading and trailing spaces and tabs.
func trimmed(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>> {
    var start = bytes.startIndex
    var end = bytes.endIndex
    while start < end, bytes[start] == 0x20 || bytes[start] == 0x09 { start += 1 }
    while start < end, bytes[end - 1] == 0x20 || bytes[end - 1] == 0x09 { end -= 1 }
    return bytes[start..<end]
}
