#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A system call on a file or folder.
package enum FileStep: String, Sendable, CaseIterable {
    case open, status, read, write, seek, lock, sync, rename, link, remove, list, makeFolder, syncFolder
}

/// The error of a failed system call on a file or folder.
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

    /// True if the disk or the user's quota is full, or the file has reached the maximum size.
    package var isDiskFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Path, call and reason.
    package var description: String { "\(path): \(step.rawValue): \(reason)" }
}

/// The system calls on files. A test uses calls that can fail.
package struct FileCalls: Sendable {
    private let fault: @Sendable (FileStep, _ path: String) -> Int32?

    /// Makes calls that can fail.
    ///
    /// - Parameter fault: Called before each call. Returns the error number for a call that fails without
    ///   reaching the system, or nil to execute the call.
    package init(fault: @escaping @Sendable (_ step: FileStep, _ path: String) -> Int32?) {
        self.fault = fault
    }

    /// The system's own calls.
    package static let system = FileCalls { _, _ in nil }

    /// Executes a call, and repeats it while a signal interrupts it.
    ///
    /// - Parameter call: Returns the result of the system. A negative number means that `errno` is set.
    /// - Returns: The result of `call`.
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
