import CloudKit
import Simulation

/// The cloud of a fleet: how its devices reach it, and what it holds.
protocol FleetCloud: Sendable {
    /// Whether a request that a device gave up never arrives: the service's fields can be watched then.
    var isWatched: Bool { get }
    /// A container of the app on a device, with the user signed in.
    func container(ofDevice index: Int) throws -> CKContainer
    /// What kept the ledger from hearing of the service's writes.
    var failures: [String] { get }
    /// Loses, delays and repeats nothing from here on.
    func calm()
    /// The items that the service holds.
    func todos() throws -> [String: Todo]
    func end()
}
