internal import System

/// A container that a test uses in place of the program's default container.
extension CKContainer {
    /// The substitute in the current task and its child tasks.
    @TaskLocal package static var substitute: CKContainer?

    private static let forAll = Lock<CKContainer?>(nil)

    /// The substitute in tasks that have none of their own.
    package static var substituteForAll: CKContainer? {
        get { forAll.withLock { $0 } }
        set {
            // The previous container is released after the lock.
            _ = forAll.withLock { container in
                defer { container = newValue }
                return container
            }
        }
    }

    /// The container that replaces the default one; nil if no test has set any.
    static var inPlaceOfDefault: CKContainer? { substitute ?? substituteForAll }

    /// The clock of `now()` in a predicate that is evaluated on the device.
    static var predicateClock: any TimeSource {
        (try? inPlaceOfDefault?.core.resolved())?.connection.clock ?? SystemTimeSource()
    }

    /// Returns the core of the container with `identifier`, at the connection of the substitute, or nil without a
    /// substitute.
    static func substituteCore(_ identifier: String) -> ContainerCore? {
        (try? inPlaceOfDefault?.core.resolved()).map { ContainerCore($0.sibling(identifier)) }
    }
}
