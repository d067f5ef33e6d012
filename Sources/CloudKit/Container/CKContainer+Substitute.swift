internal import System

/// A container that a test has put in the place of the program's own.
extension CKContainer {
    /// For the task that runs, and those that it starts.
    @TaskLocal package static var substitute: CKContainer?

    private static let forAll = Lock<CKContainer?>(nil)

    /// For the whole process, where none is for the task.
    package static var substituteForAll: CKContainer? {
        get { forAll.withLock { $0 } }
        set {
            // The one before is released after the lock.
            _ = forAll.withLock { container in
                defer { container = newValue }
                return container
            }
        }
    }

    /// The container in the place of the program's own; nil: there is none.
    static var inPlaceOfDefault: CKContainer? { substitute ?? substituteForAll }

    /// What `now()` means in a predicate that is looked at on the device.
    static var predicateClock: any TimeSource {
        (try? inPlaceOfDefault?.core.resolved())?.connection.clock ?? SystemTimeSource()
    }

    /// Where the cloud of the container with `identifier` is, as a test says it.
    static func substituteCore(_ identifier: String) -> ContainerCore? {
        (try? inPlaceOfDefault?.core.resolved()).map { ContainerCore($0.sibling(identifier)) }
    }
}
