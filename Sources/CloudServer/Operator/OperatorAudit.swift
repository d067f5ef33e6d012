import CloudStore
import CloudWire

/// Writes the audit log for administrators' actions.
struct OperatorAudit: Sendable {
    private let audit: AuditLog
    private let log: ServerLog?

    init(_ control: ControlStore, _ log: ServerLog?) {
        audit = control.auditLog
        self.log = log
    }

    /// Writes a line before a change is executed.
    ///
    /// - Returns: the number of the line, for `finish`.
    /// - Throws: `CloudStoreError`; then the change must not be executed.
    @discardableResult
    func begin(_ line: AuditLine) throws -> Int64 { try audit.add(line) }

    /// Writes the outcome of a change. If that fails the line stays `begun`, and the server's log has the
    /// reason.
    func finish(_ number: Int64, _ outcome: AuditLine.Outcome, note: String? = nil) {
        do {
            try audit.finish(number, outcome: outcome, note: note)
        } catch {
            log?.add(
                event: "outcome isn't in the audit log",
                [("line", "\(number)"), ("outcome", outcome.rawValue), ("error", "\(error)")])
        }
    }

    /// Executes a change between its audit line and its outcome.
    ///
    /// - Parameter note: the note of an executed change.
    func logging<Result>(
        _ line: AuditLine, note: String? = nil, _ body: () throws -> Result
    ) throws -> Result {
        let number = try begin(line)
        let result: Result
        do {
            result = try body()
        } catch {
            let isRefusal = error is ControlError || error is WireError
            let note = (error as? WireError)?.serverErrorCode.rawValue ?? "\(error)"
            finish(number, isRefusal ? .refused : .failed, note: note)
            throw error
        }
        finish(number, .done, note: note)
        return result
    }

    /// Returns true if an administrator has signed in from an address before.
    ///
    /// - Throws: `CloudStoreError`.
    func hasSignedIn(_ administrator: String, from address: String) throws -> Bool {
        try audit.hasSignedIn(administrator, from: address)
    }
}
