/// How a process ended.
package enum ProcessEnd: Sendable, CustomStringConvertible {
    case exit(Int32)
    case signal(Int32)

    /// True if a test process ends this way after its last test.
    func isExpected(hasFailed: Bool) -> Bool {
        switch self {
        case .exit(let status): status == 0 || hasFailed
        case .signal: false
        }
    }

    package var description: String {
        switch self {
        case .exit(let status): "The process ended with exit status \(status)."
        case .signal(let number): "The process was ended by signal \(number)."
        }
    }
}
