/// What a server may take, whatever an abuser does.
package struct AbuseBounds: Sendable {
    /// The server's memory, in bytes.
    package var memoryBytesMax = 300 << 20
    /// The folder on the disk, in bytes.
    package let diskBytesMax: Int

    /// The answers to named writes that are kept for a user.
    static let keptAnswersBytes = 32 << 20
    /// The logs of the store and the control file, which are copied into the files and begin anew.
    static let logBytes = 64 << 20
    /// What an ordinary user of the run has, with the kept answers.
    static let ordinaryBytes = 256 << 10

    /// - Parameter plan: says how much one user may have.
    package init(_ plan: AbusePlan) {
        let quotas = plan.quotas
        diskBytesMax =
            quotas.privateBytes + quotas.publicBytesOfUser + quotas.unsavedBytes + Self.keptAnswersBytes
            + Self.logBytes + plan.usersCount * Self.ordinaryBytes
    }
}
