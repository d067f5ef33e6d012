#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A call of the system on a file or folder.
package enum FileStep: String, Sendable, CaseIterable {
    case open, status, read, write, seek, lock, sync, rename, link, remove, list, makeFolder, syncFolder
}

/// A call of the system on a file or folder that failed.
package struct FileError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call.
    package let step: FileStep
    /// The file or folder.
    package let path: String
    /// The system's error number (`errno`).
    package let code: Int32

    /// Makes the error of a call.
    package init(_ step: FileStep, _ path: String, _ code: Int32) {
        (self.step, self.path, self.code) = (step, path, code)
    }

    /// The system's text for the error number.
    package var reason: String { String(cString: strerror(code)) }

    /// True if the disk, the user's share of it, or the largest size of a file is used up.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Path, call and reason.
    package var description: String { "\(path): \(step.rawValue): \(reason)" }
}

/// The system's calls on files. A test passes one that makes a call fail.
package struct FileCalls: Sendable {
    private let fault: @Sendable (FileStep, _ path: String) -> Int32?

    /// Makes calls of which some fail.
    ///
    /// - Parameter fault: Called before each call. Returns the error number with which the call fails without reaching
    ///   the system, or nil to let it through.
    package init(fault: @escaping @Sendable (_ step: FileStep, _ path: String) -> Int32?) {
        self.fault = fault
    }

    /// The system's own calls.
    package static let system = FileCalls { _, _ in nil }

    /// Makes a call, and repeats it while a signal interrupts it.
    ///
    /// - Parameter call: Returns what the system returned: a negative number sets `errno`.
    /// - Returns: What `call` returned.
    /// - Throws: `FileError` if the call failed.
    @discardableResult
    package func callAsFunction<Result: SignedInteger>(
        _ step: FileStep, _ path: String, _ call: () -> Result
    ) throws(FileError) -> Result {
        if let code = fault(step, path) { throw FileError(step, path, code) }
        while true {
            let result = call()
            if result >= 0 { return result }
            guard errno == EINTR else { throw FileError(step, path, errno) }
        }
    }
}
