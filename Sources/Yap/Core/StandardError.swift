#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Standard error of the process.
enum StandardError {
    /// Writes a line. Output that can't be written is dropped.
    static func write(_ line: String) {
        var text = line + "\n"
        _ = text.withUTF8 { bytes in systemWrite(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
}

/// The system call, which `StandardError.write` shadows.
private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}
