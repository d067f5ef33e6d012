import Foundation

/// Standard output, a line at a time.
enum Output {
    static func say(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}
